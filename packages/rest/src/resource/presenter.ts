import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { Schema } from "../schema.ts";
import { view } from "../view.ts";
import type { Viewer, Views } from "./views.ts";

/** A field computed from a document when it is shown. Neither stored nor accepted from clients. */
export interface ComputedField<Document = Stored<Fields>, Value = unknown> {
  /** Schema of the value, for the reference. */
  readonly schema: Schema<Value>;
  /**
   * Works the value out; `undefined` leaves the field out. It must follow from the document alone,
   * since the entity tag is the version of the document.
   */
  value(document: Document): Value | undefined;
}

/** Replacement for a field that a document lacks. */
export interface DerivedField<Document = Stored<Fields>, Value = unknown> {
  /** Field that the value tells something about: callers who do not see it see `null`. */
  readonly from: string;
  /** Computes the value; `undefined` omits the field. It must depend on the document alone. */
  value(document: Document): Value | undefined;
}

/**
 * Shows a caller what it sees of a document, in the order of the view.
 *
 * @param fields - The only ones to show, as the parameter `fields` of a list names them. Default:
 * all that the caller sees.
 */
export type Presenter = (
  document: Stored<object>,
  viewer: Viewer,
  fields?: readonly string[],
) => Fields;

/** Makes the function that shows documents. */
export function createPresenter(
  views: Views,
  {
    computed,
    derived,
  }: {
    readonly computed: Readonly<Record<string, ComputedField>>;
    readonly derived: Readonly<Record<string, DerivedField>>;
  },
): Presenter {
  const functions = new Map(Object.entries(computed));
  const standIns = new Map(Object.entries(derived));

  return (document, viewer, asked) => {
    const seen = views.fieldsOf(document, viewer);
    const fields = asked?.filter((field) => seen.includes(field)) ?? seen;
    if (functions.size === 0 && standIns.size === 0) return view(document, fields);
    const result: Fields = {};
    for (const field of fields) {
      const value = valueOf(field, document as Stored<Fields>, viewer);
      if (value !== undefined) result[field] = value;
    }
    return result;
  };

  /** Functions take documents of the schema, which those of the collection are. */
  function valueOf(field: string, document: Stored<Fields>, viewer: Viewer): unknown {
    const definition = functions.get(field);
    if (definition) return definition.value(document);
    const own = Object.hasOwn(document, field) ? document[field] : undefined;
    const standIn = standIns.get(field);
    if (!standIn || (own !== undefined && own !== null)) return own;
    return views.hides(standIn.from, viewer, document) ? null : standIn.value(document);
  }
}
