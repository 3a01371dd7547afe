import type { Stored } from "@fetchwork/documents";
import type { Fields } from "./resource.ts";

/** Shows the named fields of a document, in their order; what a document lacks is left out. */
export function view(document: Stored<Fields>, fields: readonly string[]): Fields {
  const shown: Fields = {};
  for (const field of fields) {
    const value = document[field];
    if (value !== undefined) shown[field] = value;
  }
  return shown;
}
