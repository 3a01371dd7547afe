import type { Stored } from "../document.ts";
import type { FieldPath, FieldValue } from "../field-path.ts";
import type { WriteOptions } from "./write-options.ts";

/** Numbers to add, by the paths of fields; at most 100. */
export type Increments<T> = string extends keyof T
  ? Readonly<Record<string, number>>
  : { readonly [P in FieldPath<T> as IfEvery<T, P, number>]?: number };

/** The path, if each value of the field that is not missing is one of these. */
type IfEvery<T, P extends string, V> = NonNullable<FieldValue<T, P>> extends V ? P : never;

/**
 * Changes single fields by what they are, as one change: of any number at the same time none is
 * lost. `ifVersion` and `lease` are as in `update`. Resolves to the document, or to `undefined`
 * when there is none.
 */
export interface FieldChanging<T> {
  /**
   * Adds numbers to fields, as decimal numbers: 0.1 and 0.2 make 0.3. A field that is missing or
   * null counts as 0.
   *
   * @throws {InputError} `ERR_DOCUMENTS_VALUE` when a field is not a number, or would be infinite.
   * @example
   * ```ts
   * await collection.increment(id, { views: 1, "stats.likes": -2 });
   * ```
   */
  increment(
    id: string,
    fields: Increments<T>,
    options?: WriteOptions,
  ): Promise<Stored<T> | undefined>;
}
