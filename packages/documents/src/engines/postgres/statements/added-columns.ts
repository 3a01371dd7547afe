import type { Stored } from "../../../api/document.ts";
import type { NewRow, Table } from "../../layout.ts";
import type { PostgresDialect } from "./dialect.ts";
import { geoColumn } from "./geo.ts";
import type { Column } from "./row-values.ts";
import type { PostgresSearchTexts } from "./search-texts.ts";

/** A collection whose table has columns for what is derived from its documents. */
interface DerivingTable extends Table {
  readonly search: PostgresSearchTexts;
  expiryColumn(stored: unknown): number | null;
}

/** The columns of rows to add; what a collection does not have is not sent for each. */
export function columnsToAdd(
  layout: DerivingTable,
  rows: readonly NewRow[],
  { isNew }: { readonly isNew: boolean },
): readonly Column[] {
  const column = (
    name: string,
    type: Column["type"],
    valueOf: (row: NewRow) => number | string | null,
  ): Column => ({ name, type, values: rows.map(valueOf) });
  const shared: typeof column = (name, type, valueOf) =>
    isNew
      ? { name, type, values: rows.slice(0, 1).map(valueOf), isShared: true }
      : column(name, type, valueOf);
  const version = shared("version", "bigint", (row) => row.version);
  const columns = [
    column("id", "text", ({ id }) => id),
    version,
    shared("created_at", "text", ({ createdAt }) => createdAt),
    shared("updated_at", "text", ({ updatedAt }) => updatedAt),
    column("doc", "jsonb", ({ text }) => text),
  ];
  columns.push(...layout.search.columnsOf(rows, version));
  if (layout.expiresAt !== undefined) {
    columns.push(column("expires_at", "bigint", ({ stored }) => layout.expiryColumn(stored)));
  }
  if (layout.geoPaths.length > 0) {
    columns.push(column("geo", "float8[]", ({ stored }) => geoColumn(layout, stored)));
  }
  if (!isNew && rows.some(({ deletedAt }) => deletedAt !== null)) {
    columns.push(column("deleted_at", "text", ({ deletedAt }) => deletedAt));
  }
  return columns;
}

/** Returns what an UPDATE sets of the columns derived from the new version of a document. */
export function derivedSets(
  layout: DerivingTable,
  after: Stored<object>,
  sql: PostgresDialect,
): readonly string[] {
  const sets = [
    ...layout.search.changes(after, sql),
    `expires_at = ${sql.bind(layout.expiryColumn(after), "bigint")}`,
  ];
  if (layout.geoPaths.length > 0) {
    sets.push(`geo = ${sql.bind(geoColumn(layout, after), "float8[]")}`);
  }
  return sets;
}
