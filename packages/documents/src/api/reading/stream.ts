import type { Projected, Stored } from "../document.ts";
import type { FieldPath } from "../field-path.ts";
import type { FindQuery } from "../find-query.ts";

/** Selects and sorts what is streamed; `limit` is the maximum number of documents, from 1. */
export type StreamQuery<T> = Omit<FindQuery<T>, "offset">;

/** Reads any number of documents without holding all of them in memory. */
export interface Streaming<T> {
  /**
   * Reads everything that a query selects, in parts of 200 documents, and reads no further once the
   * loop ends. An invalid query rejects when the loop begins.
   *
   * Each part is consistent, and all of them are not: a document that is added, removed or moved
   * during the loop may be seen or not. One that moves behind the place of the loop is seen twice.
   * A sort by fields that do not change, such as the default, returns each document once. A sort
   * that no index serves sorts everything for each part.
   *
   * @throws {InputError} `ERR_DOCUMENTS_QUERY`
   * @example
   * ```ts
   * for await (const user of store.collection(users).stream({ where: { role: "user" } })) {
   *   await sendLetter(user.email);
   * }
   * ```
   */
  stream(
    query?: StreamQuery<T> & { readonly fields?: undefined },
  ): AsyncGenerator<Stored<T>, void, undefined>;
  stream<const F extends readonly FieldPath<T>[]>(
    query: StreamQuery<T> & { readonly fields: F },
  ): AsyncGenerator<Projected<T, F>, void, undefined>;
  stream(query: StreamQuery<T>): AsyncGenerator<Projected<T>, void, undefined>;
}
