import type { Stored } from "@fetchwork/documents";
import { empty } from "@fetchwork/http";
import type { Fields } from "../fields.ts";
import type { ResourceHandler } from "../resource/call.ts";
import { afterChange } from "../resource/hooks.ts";
import type { Resource } from "../resource/resource.ts";
import { changeDocument } from "./change-document.ts";
import { type AfterRemoval, releaseReferences } from "./relations/release-references.ts";

/** A document that was removed, and what follows the removal of those that went with it. */
interface Removed {
  readonly document: Stored<Fields>;
  readonly following: readonly AfterRemoval[];
}

/** Makes the handler that removes a document. */
export function removeOperation(resource: Resource): ResourceHandler {
  const { hooks } = resource;

  return async (call) => {
    const { resources } = call;
    const isReferredTo = resources.referrersOf(resource).length > 0;
    const { document, following } = await changeDocument<Removed>(resource, call, {
      operation: "remove",
      isTogether: hooks.beforeRemove !== undefined || isReferredTo,
      async change({ current, documents, transaction }) {
        if (transaction) await hooks.beforeRemove?.({ call, transaction, current });
        const released =
          isReferredTo && transaction
            ? await releaseReferences(call, transaction, { resource, id: current.id })
            : [];
        // A transaction has read it itself. Hooks may have changed it since, such as a count of
        // what belonged to it.
        const ifVersion = transaction ? undefined : current;
        const isGone = await documents.remove(current.id, { ifVersion });
        return isGone ? { document: current, following: released } : undefined;
      },
    });
    for (const work of following) await afterChange(call, work);
    if (hooks.afterRemove) {
      await afterChange(call, () => hooks.afterRemove?.({ call, document }));
    }
    return empty();
  };
}
