import type { ParsedPath } from "../api/field-path.ts";
import type { Dialect } from "./dialect.ts";

/** Needs of a summary for the numbers and strings of a field. */
export interface Needs {
  readonly sum: boolean;
  readonly min: boolean;
  readonly max: boolean;
}

/**
 * Writes the expressions of statements that sum documents up, in two steps: columns of each
 * document, and what is made of these columns over a group of documents. Values are bound in the
 * order of the text, so `summary` is called before `inputs`.
 */
export interface Summarizing {
  /** A value to group by: JSON of a scalar field; NULL for null, lists, objects and missing. */
  scalar(path: ParsedPath, sql: Dialect): string;
  /** The text of such a value. */
  text(column: string): string;
  /** The columns of a document of which a summary is made, with a prefix for their names. */
  inputs(path: ParsedPath, prefix: string, sql: Dialect): readonly string[];
  /**
   * The summary of a field: how many numbers there are; decimal numbers, joined by commas, whose
   * sum is that of all; other decimal numbers, joined by commas, to be added and compared; the
   * smallest and the greatest of the rest; the smallest and the greatest string. NULL for what is
   * not needed or does not exist.
   */
  summary(path: ParsedPath, prefix: string, needs: Needs, sql: Dialect): readonly string[];
  /**
   * Written behind the statement that selects columns of documents: it keeps the engine from
   * computing a column as often as the statement around it uses it.
   */
  readonly once: string;
  /** The list of a field for `eachMember`: of one value where it is not a list. */
  list(path: ParsedPath, sql: Dialect): string;
  /**
   * FROM and WHERE for the members that are scalar values. The documents are passed as FROM and
   * what follows it; their JSON is `member`.
   */
  readonly eachMember: (documents: string) => string;
  /** The member as JSON text. */
  readonly member: string;
}
