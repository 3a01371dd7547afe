import { json } from "@fetchwork/http";
import { etagOf } from "../etag.ts";
import { refuseConflicts } from "../refuse-conflicts.ts";
import type { Fields, Resource } from "../resource.ts";
import { view } from "../view.ts";
import type { ResourceHandler } from "./resource-call.ts";

/** Makes the handler that creates a document. */
export function createOperation(resource: Resource): ResourceHandler<unknown> {
  const { collection, list, owner, path } = resource;
  const shown = list.selectable;

  return async ({ body, store, transaction, user }) => {
    const fields: Fields = { ...(body as Fields) };
    if (owner !== undefined && user) fields[owner] = user.id;
    const documents = (transaction ?? store).collection(collection);
    const document = await refuseConflicts(documents.insert(fields));
    return json(view(document, shown), {
      status: 201,
      headers: { etag: etagOf(document.version), location: `${path}/${document.id}` },
    });
  };
}
