import { empty } from "@fetchwork/http";
import { writeConditionally } from "../conditional-write.ts";
import type { Resource } from "../resource.ts";
import { idOf, type ResourceHandler } from "./resource-call.ts";

/** Makes the handler that removes a document. */
export function removeOperation({ collection }: Resource): ResourceHandler {
  return async (call) => {
    const { request, store, transaction } = call;
    await writeConditionally(
      { store, transaction, collection, id: idOf(call), request },
      async ({ id, version }, documents) =>
        (await documents.remove(id, { ifVersion: version })) || undefined,
    );
    return empty();
  };
}
