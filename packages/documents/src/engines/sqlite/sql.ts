import type { MetaField, ParsedPath } from "../../api/field-path.ts";
import type { OrderTerm } from "../../query/parse-query.ts";
import { type Budget, tickSql } from "./budget.ts";
import type { Cell, Connection, Row } from "./connection.ts";

const COLUMN_OF_META: Readonly<Record<MetaField, string>> = {
  id: "id",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
};

/** Quotes an identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Writes the value of a field as an expression of an index. A query finds the index only by the
 * very same expression.
 */
export function indexExpression(path: ParsedPath): string {
  return path.meta === undefined
    ? `json_extract(doc, ${quoteText(jsonPath(path))})`
    : COLUMN_OF_META[path.meta];
}

/**
 * Writes the expressions of one statement, and gathers what is bound to it, in order.
 *
 * The path of a field without an index is bound as well. So the number of different statements
 * depends on the program and not on its users, who would otherwise fill the memory with prepared
 * ones: `node:sqlite` frees them only when the garbage collector comes by.
 */
export class Expressions {
  /** The values to bind. */
  readonly parameters: Cell[] = [];
  readonly #indexed: ReadonlySet<string>;
  readonly #budget: Budget | undefined;

  /** Takes the fields that have an index, and what limits the time of the statement, if anything. */
  constructor(indexed: ReadonlySet<string>, budget?: Budget) {
    this.#indexed = indexed;
    this.#budget = budget;
  }

  /** Writes the terms that count the rows that are looked at, one or none. */
  ticks(column: string): readonly string[] {
    return this.#budget === undefined ? [] : [tickSql(column)];
  }

  /** Reads every row, within the time that there is. */
  all(connection: Connection, text: string): readonly Row[] {
    this.#budget?.check(text);
    return connection.all(text, this.parameters);
  }

  /** Writes the value of a field. */
  field(path: ParsedPath): string {
    if (path.meta !== undefined || this.#indexed.has(path.text)) return indexExpression(path);
    return `json_extract(doc, ${this.bind(jsonPath(path))})`;
  }

  /** Writes the JSON type of a field; NULL when the field is missing. */
  type(path: ParsedPath): string {
    return this.#indexed.has(path.text)
      ? `json_type(doc, ${quoteText(jsonPath(path))})`
      : `json_type(doc, ${this.bind(jsonPath(path))})`;
  }

  /** Writes the arguments of a JSON function that looks at a field. */
  document(path: ParsedPath): string {
    return this.#indexed.has(path.text)
      ? `doc, ${quoteText(jsonPath(path))}`
      : `doc, ${this.bind(jsonPath(path))}`;
  }

  /** Writes a value. */
  bind(value: Cell): string {
    this.parameters.push(value);
    return "?";
  }

  /** Writes a value that fields are compared with. */
  value(value: number | string): string {
    if (typeof value === "string" || Number.isSafeInteger(value)) return this.bind(value);
    // SQLite reads some decimal numbers one bit apart from JavaScript, so it reads this one too.
    return `(${this.bind(JSON.stringify(value))} ->> '$')`;
  }

  /** Writes the terms of ORDER BY. */
  order(terms: readonly OrderTerm[]): string {
    return terms
      .map(({ path, descending }) => `${this.field(path)}${descending ? " DESC" : ""}`)
      .join(", ");
  }
}

/** A name between double quotes is taken literally; SQLite reads the escapes of JSON in it. */
function jsonPath({ segments }: ParsedPath): string {
  return `$${segments.map((name) => `.${JSON.stringify(name)}`).join("")}`;
}
