import { empty, json } from "@fetchwork/http";
import { notFound } from "../conditional-write.ts";
import { etagOf, noneMatchHolds, requirePreconditions } from "../etag.ts";
import type { Resource } from "../resource.ts";
import { view } from "../view.ts";
import { idOf, type ResourceHandler } from "./resource-call.ts";

/** Makes the handler that shows one document. */
export function showOperation(resource: Resource): ResourceHandler {
  const { collection, list } = resource;
  const shown = list.selectable;

  return async (call) => {
    const { request, store } = call;
    const document = call.document ?? (await store.collection(collection).get(idOf(call)));
    if (!document) throw notFound();
    const etag = etagOf(document.version);
    requirePreconditions(request, etag);
    if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
      return empty(304, { headers: { etag } });
    }
    return json(view(document, shown), { headers: { etag } });
  };
}
