import { empty, json } from "@fetchwork/http";
import { noneMatchHolds, requirePreconditions } from "../etag.ts";
import { readShownFields } from "../plan/fields-parameter.ts";
import { readPopulate } from "../plan/populate-parameter.ts";
import { notFound } from "../problem.ts";
import { idOf, type ResourceHandler } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import { showDocument } from "./document-response.ts";
import { populate } from "./relations/populate.ts";

/** Makes the handler that shows one document. */
export function showOperation(resource: Resource): ResourceHandler {
  const { collection, hooks } = resource;

  return async (call) => {
    const { request, store } = call;
    const id = idOf(call);
    const tree = readPopulate(resource, call.query);
    const fields = readShownFields(resource, call);
    await hooks.beforeShow?.({ call, id });
    const document = call.document ?? (await store.collection(collection).get(id));
    if (!document) throw notFound(resource.name);
    const { etag, shown } = await showDocument(resource, call, document, fields);
    requirePreconditions(request, etag);
    // Rows of a hook or a relation may depend on more than the version.
    if (!hooks.afterShow && !tree && noneMatchHolds(request.headers.get("if-none-match"), etag)) {
      return empty(304, { headers: { etag } });
    }
    const changed = await hooks.afterShow?.({ call, document, shown });
    const rows = [changed ?? shown];
    const [row] = tree
      ? await populate(call, { resource, documents: [document], rows }, tree)
      : rows;
    return json(row, { headers: { etag } });
  };
}
