import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { Schema } from "../schema.ts";
import { view } from "../view.ts";
import type { Viewer, Views } from "./views.ts";

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

/**
 * Shows a caller what it sees of a document, in the order of the view.
 *
 * @param fields - The only ones to show, as the parameter `fields` of a list names them. Default: all that the caller sees.
 */
export type Presenter = (
  document: Stored<object>,
  viewer: Viewer,
  fields?: readonly string[],
) => Fields;

/** Makes the function that shows documents. */
export function createPresenter(
  views: Views,
  computed: Readonly<Record<string, ComputedField>>,
): Presenter {
  const functions = new Map(Object.entries(computed));

  return (document, viewer, asked) => {
    const fields = shownOf(document, viewer, asked);
    if (functions.size === 0) return view(document, fields);
    const result: Fields = {};
    for (const field of fields) {
      const definition = functions.get(field);
      const own: unknown = Object.hasOwn(document, field)
        ? Reflect.get(document, field)
        : undefined;
      // They take documents of the schema, which those of the collection are.
      const value = definition ? definition.value(document as Stored<Fields>) : own;
      if (value !== undefined) result[field] = value;
    }
    return result;
  };

  function shownOf(
    document: Stored<object>,
    viewer: Viewer,
    asked: readonly string[] | undefined,
  ): readonly string[] {
    const seen = views.fieldsOf(document, viewer);
    if (asked === undefined) return seen;
    return views.differ ? asked.filter((field) => seen.includes(field)) : asked;
  }
}
