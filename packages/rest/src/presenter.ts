import type { Stored } from "@fetchwork/documents";
import type { Fields } from "./resource.ts";
import type { Schema } from "./schema.ts";
import { view } from "./view.ts";

/** A field that is worked out of a document when it is shown. It is not stored, and not accepted from clients. */
export interface ComputedField<Document = Stored<Fields>, Value = unknown> {
  /** Schema of the value, for the reference. */
  readonly schema: Schema<Value>;
  /**
   * Works the value out; `undefined` leaves the field out. It must follow from the document alone, since the entity tag
   * is the version of the document.
   */
  value(document: Document): Value | undefined;
}

/** Shows the named fields of a document, in their order. */
export type Presenter = (document: Stored<Fields>, fields?: readonly string[]) => Fields;

/** Makes the function that shows documents; without names it shows those of the view. */
export function createPresenter(
  shown: readonly string[],
  computed: Readonly<Record<string, ComputedField>>,
): Presenter {
  const functions = new Map(Object.entries(computed));
  if (functions.size === 0) return (document, fields = shown) => view(document, fields);
  return (document, fields = shown) => {
    const result: Fields = {};
    for (const field of fields) {
      const definition = functions.get(field);
      const own: unknown = Object.hasOwn(document, field) ? document[field] : undefined;
      const value = definition ? definition.value(document) : own;
      if (value !== undefined) result[field] = value;
    }
    return result;
  };
}
