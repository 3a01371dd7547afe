import type { ColumnType } from "../../dialect.ts";
import type { PostgresWriter } from "./dialect.ts";

/** A column of rows to add. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType | "float8[]";
  readonly values: readonly (number | string | null)[];
  /** Whether the first value is that of all rows, which is sent once. Default: `false`. */
  readonly isShared?: boolean;
}

/** Writes VALUES of one row. */
export function valuesSql(columns: readonly Column[], sql: PostgresWriter): string {
  const values = columns.map((column) => firstValue(column, sql));
  return `VALUES (${values.join(", ")})`;
}

/** Writes a SELECT of many rows. */
export function listSql(columns: readonly Column[], sql: PostgresWriter): string {
  const expressions: string[] = [];
  const lists: string[] = [];
  const names: string[] = [];
  for (const column of columns) {
    const { name, type, values, isShared = false } = column;
    if (isShared) {
      expressions.push(firstValue(column, sql));
      continue;
    }
    // A list of JSON texts or of arrays is sent as a list of texts.
    const isText = type === "jsonb" || type === "float8[]";
    lists.push(sql.bind(values, isText ? "text[]" : `${type}[]`));
    names.push(name);
    expressions.push(isText ? `${name}::${type}` : name);
  }
  return (
    `SELECT ${expressions.join(", ")} ` +
    `FROM unnest(${lists.join(", ")}) AS added (${names.join(", ")})`
  );
}

function firstValue({ type, values: [value = null] }: Column, sql: PostgresWriter): string {
  return sql.bind(value, type);
}
