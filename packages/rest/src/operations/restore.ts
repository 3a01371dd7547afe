import type { Stored } from "@fetchwork/documents";
import { requirePreconditions } from "../etag.ts";
import type { Fields } from "../fields.ts";
import { asksAgain, requireAccess } from "../plan/resource-access.ts";
import { notFound } from "../problem.ts";
import { idOf, type ResourceHandler, writeTogether } from "../resource/call.ts";
import { afterChange } from "../resource/hooks.ts";
import type { Resource } from "../resource/resource.ts";
import { documentResponse } from "./document-response.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import { checkReferences } from "./relations/check-references.ts";

/** Makes the handler that brings a removed document back. */
export function restoreOperation(resource: Resource): ResourceHandler {
  const { collection, hooks, tagOf } = resource;

  return async (call) => {
    const document = await writeTogether<Stored<Fields>>(call, async (transaction) => {
      const documents = transaction.collection(collection);
      const where = { id: idOf(call) };
      const [current] = await documents.find({ where, deleted: "only", limit: 1 });
      if (!current) throw notFound(resource.name);
      if (asksAgain(resource, "restore")) {
        await requireAccess(resource, "restore", { call, document: current });
      }
      requirePreconditions(call.request, tagOf(current, call));
      await hooks.beforeRestore?.({ call, transaction, current });
      const restored = await refuseConflicts(documents.restore(current.id));
      if (!restored) throw notFound(resource.name);
      await checkReferences(resource, transaction, restored); // It may refer to itself.
      return restored;
    });
    if (hooks.afterRestore) {
      await afterChange(call, () => hooks.afterRestore?.({ call, document }));
    }
    return documentResponse(resource, call, document);
  };
}
