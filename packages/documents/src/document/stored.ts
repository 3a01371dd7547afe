import type { Stored } from "../api/document.ts";

/**
 * Joins what the store keeps with the fields of a document.
 *
 * It is not one literal: where many objects of a literal lived long, as in a bulk load, V8 makes all
 * that follow old from the start, also those of reads, which are soon forgotten.
 *
 * @internal
 */
export function withMeta<T>(meta: object, fields: object): Stored<T> {
  // The definition names T for whatever was accepted into its collection.
  return { ...meta, ...fields } as Stored<T>;
}
