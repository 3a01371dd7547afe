import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { Resource } from "./resource.ts";

/**
 * Reads what the store keeps of a document beside the fields of the schema: the owner, and what hooks and other handlers
 * have set. An update has to store it again.
 */
export function hiddenFields({ named }: Pick<Resource, "named">, document: Stored<Fields>): Fields {
  const {
    id: _id,
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    ...rest
  } = document;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !named.has(name)));
}
