import type { Stored } from "../../../api/document.ts";
import { valueAt } from "../../../api/field-path.ts";
import { sortValue, sortValuesOf } from "../../../query/cursor.ts";
import type { SortValue } from "../../../query/keyset.ts";
import type { OrderTerm } from "../../../query/parse-query.ts";
import type { Layout } from "../../layout.ts";
import type { Operation } from "../../operation.ts";
import { textOf } from "./keys.ts";

/**
 * Returns the values that a document is sorted by. An object or a list is sorted by the text of
 * PostgreSQL, which is not that of JavaScript.
 */
export function* readSortValues(
  layout: Layout,
  stored: Stored<unknown>,
  order: readonly OrderTerm[],
): Operation<readonly SortValue[]> {
  const values = order.map(({ path }) => valueAt(stored, path.segments));
  const nested = order.filter((_term, index) => isNested(values[index])).map(({ path }) => path);
  if (nested.length === 0) return sortValuesOf(stored, order);
  const sql = layout.begin();
  const { rows } = yield sql.read(
    `SELECT ${nested.map(textOf).join(", ")} FROM ${layout.quoted} ` +
      `WHERE id = ${sql.bind(stored.id, "text")}`,
  );
  const texts = [...(rows[0] ?? [])];
  return values.map((value) => sortValue(isNested(value) ? texts.shift() : value));
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
