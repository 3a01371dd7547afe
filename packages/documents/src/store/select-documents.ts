import type { Projected, Stored } from "../api/document.ts";
import type { Page, Total } from "../api/page.ts";
import { projected } from "../document/projection.ts";
import { toStored } from "../document/stored.ts";
import type { Access, Found } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import type { Operation, Row } from "../engines/operation.ts";
import type { ReadPlan } from "../engines/operations/find.ts";
import { readCursor, sortValuesOf, writeCursor } from "../query/cursor.ts";
import type { SortValue } from "../query/keyset.ts";
import type { OrderTerm, ParsedPage, ParsedQuery } from "../query/parse-query.ts";
import type { ObserveQuery } from "./observe-queries.ts";

/** Reader of the documents of a collection. */
export interface Reading {
  readonly access: Access;
  readonly layout: Layout;
  readonly observe: ObserveQuery | undefined;
}

/** A document that was found. */
interface FoundDocument<T> {
  readonly stored: Stored<T>;
  /** The square of its distance in a search by distance. */
  readonly square?: Row[number] | undefined;
}

/** Selects documents, and counts others. */
export function selectDocuments<T>(
  { access, layout, observe }: Reading,
  { query, ...rest }: Omit<ReadPlan, "find"> & { readonly query: ParsedQuery },
): Promise<Found<FoundDocument<T>>> {
  const { name } = layout.definition;
  const after = query.after === undefined ? undefined : readCursor(name, query.order, query.after);
  const plan: ReadPlan = { find: { query, after }, ...rest };
  observe?.(layout, plan);
  const map = (row: Row): FoundDocument<T> => ({ stored: toStored<T>(name, row), square: row[6] });
  return access.find(layout, plan, map);
}

/** Selects a page of documents, and the cursor of the next one. */
export async function selectPage<T>(
  reading: Reading,
  { parsed, limit, total, isBounded }: ParsedPage,
): Promise<Page<Projected<T> | Stored<T>>> {
  const max = typeof total === "number" ? total + 1 : undefined;
  const { items, count, stoppedAt, isAtLeast } = await selectDocuments<T>(reading, {
    // One more than the page has shows whether there is a next one.
    query: { ...parsed, limit: limit + 1 },
    count: total === "none" ? undefined : { ...parsed, max },
    isBounded,
  });
  const last = items.length > limit ? items[limit - 1] : undefined;
  const page = {
    items: items.slice(0, limit).map(({ stored }) => projected(stored, parsed.fields)),
    total: totalOf(count, total, isAtLeast),
  };
  if (stoppedAt !== undefined && last === undefined) {
    return { ...page, next: cursorAt(reading, parsed, { stoppedAt, items }), partial: true };
  }
  return {
    ...page,
    next: last === undefined ? undefined : await cursorAfter(reading, parsed, last),
  };
}

/**
 * Writes the cursor of the place at which a page stopped: before the first document of the same
 * time of creation that was not found. So it tells nothing else of a document that is perhaps not
 * for the caller.
 */
function cursorAt(
  { layout }: Reading,
  { order }: ParsedQuery,
  {
    stoppedAt,
    items,
  }: { readonly stoppedAt: Row; readonly items: readonly FoundDocument<unknown>[] },
): string {
  const { name } = layout.definition;
  const { createdAt } = toStored<object>(name, stoppedAt);
  const last = items.at(-1)?.stored;
  const before = order[0]?.descending === true ? afterEveryId : "";
  return writeCursor(name, order, [createdAt, last?.createdAt === createdAt ? last.id : before]);
}

/** Sorts after the ids of documents. */
const afterEveryId = "\u{10FFFF}".repeat(4);

async function cursorAfter(
  { access, layout }: Reading,
  { near, order }: ParsedQuery,
  { stored, square }: FoundDocument<unknown>,
): Promise<string> {
  const { name } = layout.definition;
  if (near !== undefined) return writeCursor(name, order, [Number(square), stored.id]);
  const values =
    layout.sortValues === undefined
      ? sortValuesOf(stored, order)
      : await access.read(layout, () => readSortValues(layout, stored, order));
  return writeCursor(name, order, values);
}

/** Reads what a document is sorted by, in engines where that is not the value of a field. */
function* readSortValues(
  layout: Layout,
  stored: Stored<unknown>,
  order: readonly OrderTerm[],
): Operation<readonly SortValue[]> {
  return layout.sortValues === undefined ? [] : yield* layout.sortValues(stored, order);
}

function totalOf(
  counted: number,
  total: number | "exact" | "none",
  isAtLeast = false,
): Total | undefined {
  if (total === "none") return undefined;
  if (total === "exact") return { count: counted, exact: !isAtLeast };
  return { count: Math.min(counted, total), exact: !isAtLeast && counted <= total };
}
