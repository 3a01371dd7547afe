import type { Fields } from "./fields.ts";

/** Shows the named fields of a document, in their order; what a document lacks is left out. */
export function view(document: object, fields: readonly string[]): Fields {
  const shown: Fields = {};
  for (const field of fields) {
    if (!Object.hasOwn(document, field)) continue;
    const value: unknown = Reflect.get(document, field);
    if (value !== undefined) shown[field] = value;
  }
  return shown;
}
