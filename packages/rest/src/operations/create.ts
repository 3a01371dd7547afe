import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import { newFields } from "../plan/resource-access.ts";
import { type ResourceCall, type ResourceHandler, writeTogether } from "../resource/call.ts";
import { afterChange } from "../resource/hooks.ts";
import type { Resource } from "../resource/resource.ts";
import { documentResponse } from "./document-response.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import { checkReferences } from "./relations/check-references.ts";

/** Makes the handler that creates a document. */
export function createOperation(resource: Resource): ResourceHandler<unknown> {
  const { hooks, path } = resource;

  return async (call) => {
    const document = await insertDocument(resource, call);
    if (hooks.afterCreate) {
      await afterChange(call, () => hooks.afterCreate?.({ call, document }));
    }
    const location = `${path}/${document.id}`;
    return documentResponse(resource, call, document, { status: 201, headers: { location } });
  };
}

async function insertDocument(
  resource: Resource,
  call: ResourceCall<unknown>,
): Promise<Stored<Fields>> {
  const { collection, hooks, relations } = resource;
  const { store, transaction: together } = call;
  const fields = newFields(resource, call);
  if (!hooks.beforeCreate && relations.references.length === 0) {
    return refuseConflicts((together ?? store).collection(collection).insert(fields));
  }
  return writeTogether(call, async (transaction) => {
    const changed = (await hooks.beforeCreate?.({ call, transaction, fields })) ?? fields;
    await checkReferences(resource, transaction, changed);
    return refuseConflicts(transaction.collection(collection).insert(changed));
  });
}
