import type { Stored } from "../../../api/document.ts";
import { valueAt } from "../../../api/field-path.ts";
import { sortValue } from "../../../query/cursor.ts";
import type { SortValue } from "../../../query/keyset.ts";
import type { OrderTerm } from "../../../query/parse-query.ts";
import { sortValuesOf } from "../../collation.ts";
import type { Layout } from "../../layout.ts";
import type { Operation } from "../../operation.ts";
import { textOf } from "./keys.ts";

/**
 * Returns the values that a document is sorted by. An object or a list is sorted by the text that PostgreSQL makes of it,
 * which is not that of JavaScript.
 */
export function* readSortValues(
  layout: Layout,
  stored: Stored<unknown>,
  order: readonly OrderTerm[],
): Operation<readonly SortValue[]> {
  const values = order.map(({ path }) => valueAt(stored, path.segments));
  const isRead = ({ path }: OrderTerm, index: number): boolean =>
    isNested(values[index]) && !layout.collated.has(path.text);
  const nested = order.filter(isRead).map(({ path }) => path);
  if (nested.length === 0) return sortValuesOf(layout, stored, order);
  const sql = layout.begin();
  const { rows } = yield sql.read(
    `SELECT ${nested.map(textOf).join(", ")} FROM ${layout.quoted} ` +
      `WHERE id = ${sql.bind(stored.id, "text")}`,
  );
  const texts = [...(rows[0] ?? [])];
  const known = sortValuesOf(layout, stored, order);
  return order.map((term, index) =>
    isRead(term, index) ? sortValue(texts.shift()) : (known[index] ?? null),
  );
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
