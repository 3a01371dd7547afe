import type { MetaField, ParsedPath } from "../field-path.ts";
import type { OrderTerm } from "../query.ts";

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
 * Writes the value of a field as an expression.
 *
 * It is part of the text and not bound, because SQLite uses an index on an expression only for the
 * very same expression.
 */
export function fieldExpression(path: ParsedPath): string {
  return path.meta === undefined
    ? `json_extract(doc, ${jsonPath(path)})`
    : COLUMN_OF_META[path.meta];
}

/** Writes the JSON type of a field as an expression; NULL when the field is missing. */
export function typeExpression(path: ParsedPath): string {
  return `json_type(doc, ${jsonPath(path)})`;
}

/** Writes the terms of ORDER BY. */
export function orderExpression(order: readonly OrderTerm[]): string {
  return order
    .map(({ path, descending }) => `${fieldExpression(path)}${descending ? " DESC" : ""}`)
    .join(", ");
}

/** A name between double quotes is taken literally; SQLite reads the escapes of JSON in it. */
function jsonPath({ segments }: ParsedPath): string {
  return quoteText(`$${segments.map((name) => `.${JSON.stringify(name)}`).join("")}`);
}
