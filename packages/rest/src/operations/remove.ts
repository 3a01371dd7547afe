import type { Stored } from "@fetchwork/documents";
import { empty } from "@fetchwork/http";
import type { Fields } from "../fields.ts";
import type { ResourceHandler } from "../resource/call.ts";
import { afterChange } from "../resource/hooks.ts";
import type { Resource } from "../resource/resource.ts";
import { changeDocument } from "./change-document.ts";
import { releaseReferences } from "./relations/release-references.ts";

/** Makes the handler that removes a document. */
export function removeOperation(resource: Resource): ResourceHandler {
  const { hooks } = resource;

  return async (call) => {
    const { resources } = call;
    const isReferredTo = resources.referrersOf(resource).length > 0;
    const document = await changeDocument<Stored<Fields>>(resource, call, {
      operation: "remove",
      isTogether: hooks.beforeRemove !== undefined || isReferredTo,
      async change({ current, documents, transaction }) {
        if (transaction) await hooks.beforeRemove?.({ call, transaction, current });
        if (isReferredTo && transaction) {
          await releaseReferences(resources, transaction, { resource, id: current.id });
        }
        const isGone = await documents.remove(current.id, { ifVersion: current.version });
        return isGone ? current : undefined;
      },
    });
    if (hooks.afterRemove) {
      await afterChange(call, () => hooks.afterRemove?.({ call, document }));
    }
    return empty();
  };
}
