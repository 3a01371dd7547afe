import type { Filter } from "../../query/filter.ts";
import type { Dialect } from "../dialect.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import { separateMembers } from "./lookups.ts";
import { selectionTerms, whereSql } from "./where.ts";

/** The documents to remove, as plain data: another thread can look for them. */
export interface Removal {
  /** `"purge"` deletes documents that were removed already, in collections that keep them. */
  readonly kind: "purge" | "remove";
  readonly filter: Filter | undefined;
  /** Only documents that were removed before this time. */
  readonly deletedBefore?: string | undefined;
  /** Only rows with keys up to this one. */
  readonly lastKey?: Row[number] | undefined;
}

/** Writes the conditions of a removal, to be joined by AND. */
export function removalTerms(
  layout: Layout,
  { kind, filter, deletedBefore, lastKey }: Removal,
  sql: Dialect,
): readonly string[] {
  const deleted = kind === "purge" ? "only" : "exclude";
  const selection = separateMembers(layout, { filter, words: [], deleted });
  const terms = [...selectionTerms(layout, selection, sql)];
  if (deletedBefore !== undefined) terms.push(`deleted_at < ${sql.bind(deletedBefore, "text")}`);
  if (lastKey !== undefined) terms.push(`${layout.key} <= ${sql.bind(lastKey, "bigint")}`);
  return terms;
}

/** Reads the keys of the documents that a removal selects, up to `limit`. */
export function* readRemovalKeys(
  layout: Layout,
  removal: Removal,
  limit?: number,
): Operation<readonly Row[]> {
  const sql = layout.begin();
  const where = whereSql(removalTerms(layout, removal, sql));
  const text = `SELECT ${layout.key} FROM ${layout.quoted}${where}${sql.page(limit, 0)}`;
  return (yield sql.read(text)).rows;
}
