import type { Stored } from "../document.ts";
import type { FieldPath, FieldValue } from "../field-path.ts";
import type { WriteOptions } from "./write-options.ts";

/** Numbers to add, by the paths of fields; at most 100. */
export type Increments<T> = string extends keyof T
  ? Readonly<Record<string, number>>
  : { readonly [P in FieldPath<T> as IfEvery<T, P, number>]?: number };

/** Members of lists, by the paths of fields; at most 100. */
export type ListMembers<T> = string extends keyof T
  ? Readonly<Record<string, readonly unknown[]>>
  : {
      readonly [P in FieldPath<T> as IfEvery<T, P, readonly unknown[]>]?: ListOf<FieldValue<T, P>>;
    };

/** Options of `push`. */
export interface PushOptions extends WriteOptions {
  /** Whether members that the list has already are left out. Default: `false`. */
  readonly unique?: boolean | undefined;
}

/** The path, if each value of the field that is not missing is one of these. */
type IfEvery<T, P extends string, V> = NonNullable<FieldValue<T, P>> extends V ? P : never;

type ListOf<V> = V extends readonly (infer M)[] ? readonly M[] : never;

/**
 * Changes single fields by what they are, as one change each: of any number at the same time none is lost. `ifVersion` and
 * `lease` are as in `update`. All of them resolve to the document, or to `undefined` when there is none.
 */
export interface FieldChanging<T> {
  /**
   * Adds numbers to fields, as decimal numbers: 0.1 and 0.2 make 0.3. A field that is missing or null counts as 0.
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

  /**
   * Adds members to the ends of lists. A field that is missing or null counts as an empty list.
   *
   * @throws {InputError} `ERR_DOCUMENTS_VALUE` when a field is not a list.
   */
  push(id: string, fields: ListMembers<T>, options?: PushOptions): Promise<Stored<T> | undefined>;

  /**
   * Removes every member from lists that equals one of these. Objects are equal when they have the same fields, in any
   * order. A field that is missing or null stays as it is.
   *
   * @throws {InputError} `ERR_DOCUMENTS_VALUE` when a field is not a list.
   */
  pull(id: string, fields: ListMembers<T>, options?: WriteOptions): Promise<Stored<T> | undefined>;
}
