import type { MetaField, ParsedPath } from "../api/field-path.ts";
import type { ScalarValue } from "../api/where.ts";
import type { RangeFilter } from "../query/filter.ts";
import type { OrderTerm } from "../query/parse-query.ts";
import type { Statement, Value } from "./operation.ts";

/** Types of values and columns, by their names in PostgreSQL. SQLite needs none of them. */
export type ColumnType = "bigint" | "float8" | "jsonb" | "numeric" | "text";

/**
 * How often a statement is run. `"fixed"` is one of the store. The text of `"repeated"` depends on
 * the program, and the text or best plan of `"once"` on the values.
 */
export type StatementUse = "fixed" | "once" | "repeated";

/**
 * Writes one statement and collects the values that are bound to it. They are bound in the order of
 * the text, because placeholders of SQLite have no numbers.
 */
export interface StatementWriter {
  /** Values bound so far. */
  readonly values: readonly Value[];
  /** Binds a value and returns its placeholder. */
  bind(value: Value, type: ColumnType): string;
  /** The condition that a column equals one of the values. */
  isIn(column: string, values: readonly (number | string)[], type: ColumnType): string;
  /** Returns a statement that reads. */
  read(text: string, use?: StatementUse): Statement;
  /** Returns a statement that changes rows. */
  write(text: string, use?: StatementUse): Statement;
}

/** Creates the writer of a statement about the store's own tables. */
export type Begin = () => StatementWriter;

/**
 * Writes the expressions of one statement about the documents of a collection. This is where SQLite
 * and PostgreSQL differ in how they reach into a document; everything that combines these
 * expressions is written once.
 */
export interface Dialect extends StatementWriter {
  /** The value of a field for finding, indexing and sorting; NULL when missing or null. */
  key(path: ParsedPath): string;
  /** The key of a document whose field is sorted as this value. */
  keyOfValue(path: ParsedPath, value: number | string): string;
  /** The condition that a key is not NULL, in the form that an index serves. */
  hasKey(path: ParsedPath): string;
  /** The terms of ORDER BY: missing and null first, then numbers, then texts. */
  order(terms: readonly OrderTerm[]): string;
  /** The condition that a field exists; null counts as existing. */
  exists(path: ParsedPath): string;
  /** The condition that a field equals one of the values. */
  equals(path: ParsedPath, values: readonly ScalarValue[]): string;
  /** Condition that a field is a list with one of the values, checked for each document. */
  contains(path: ParsedPath, values: readonly ScalarValue[]): string;
  /** The same condition in the form that the index of a field's members serves. */
  hasMember(path: ParsedPath, values: readonly ScalarValue[]): string;
  /** The condition that a field is in a range of numbers or of strings. */
  range(filter: RangeFilter): string;
  /** The conditions that every word occurs in the search text, in the form that an index serves. */
  search(words: readonly string[]): readonly string[];
  /** The condition that a row has one of the keys of rows. */
  isRow(keys: readonly (number | string | null)[]): string;
  /** The same conditions, by the search text of the row. No index serves them. */
  hasWords(words: readonly string[]): readonly string[];
  /** LIMIT and OFFSET, with a space before them. */
  page(limit: number | undefined, offset: number): string;
  /** Terms that count the rows that a statement visits, where its time is limited. */
  countVisited(column?: string): readonly string[];
}

const columnOfMeta: Readonly<Record<MetaField, string>> = {
  id: "id",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
};

/** Returns the column of a field that the store itself keeps. */
export function columnOf(meta: MetaField): string {
  return columnOfMeta[meta];
}

/** Quotes an identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
