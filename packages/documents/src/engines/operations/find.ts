import { cellOf } from "../../geo/geo-cell.ts";
import { growingReach, placeOfField, sampleSize } from "../../geo/near.ts";
import type { Vector } from "../../geo/position.ts";
import { partsAfter, type SortValue } from "../../query/keyset.ts";
import type { ParsedAggregate, ParsedDistinct } from "../../query/parse-aggregate.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Layout, Selected } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import type { Counted, Extent, FoundRows } from "./extent.ts";
import { separateLookups } from "./lookups.ts";
import { readRemovalKeys, type Removal } from "./removal.ts";
import { readGroups, readDistinct } from "./summarize.ts";
import { countSearched, findUnindexed, probe, type Probed, selectSearched } from "./search.ts";
import { countSql, orderSql, selectionTerms, selectSql, whereSql } from "./where.ts";

/** Plan to read a collection, as plain data: another thread can do it as well. */
export interface ReadPlan {
  /** Documents to select, and the values of the cursor, if there is one. */
  readonly find?: FindPlan | undefined;
  /** Documents to count, up to `max`. */
  readonly count?: CountPlan | undefined;
  /** Groups to compute; the count is then that of all groups. */
  readonly groups?: ParsedAggregate | undefined;
  /** Fields whose values are counted; the count is that of the field with the most. */
  readonly distinct?: ParsedDistinct | undefined;
  /** Documents whose keys alone are read, because they are to be removed. */
  readonly removal?: Removal | undefined;
  /** Whether reading may stop after too many documents, see `PageQuery.bounded`. */
  readonly isBounded?: boolean | undefined;
}

/** Documents to select. */
export interface FindPlan {
  readonly query: ParsedQuery;
  readonly after: readonly SortValue[] | undefined;
}

/** Documents to count. */
export interface CountPlan extends ParsedSelection {
  readonly max?: number | undefined;
}

/**
 * Result of a plan: rows of the layout's columns, for `near` with the square of the distance, for
 * a removal of keys, for groups and values as `readGroups` and `readDistinct` return them; and a
 * count.
 */
export interface ReadResult extends Extent {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** Does what a plan says. */
export function* readPlanned(layout: Layout, plan: ReadPlan): Operation<ReadResult> {
  if (plan.removal !== undefined) {
    return { rows: yield* readRemovalKeys(layout, plan.removal), count: 0 };
  }
  // Documents with the words that the index does not have yet.
  const unindexed = yield* findUnindexed(layout, selectionOf(plan)?.words ?? []);
  const { find, count } = separated(layout, plan);
  const { isBounded = false } = plan;
  const looked = lookupsOf(find?.query) ?? lookupsOf(count) ?? selectionOf(plan) ?? noWords;
  const search = find?.after === undefined ? find?.query : undefined;
  const how = { isBounded, ...(yield* probe(layout, looked, { unindexed, search })) };
  if (plan.groups !== undefined) return yield* readGroups(layout, plan.groups, how.foundBy);
  if (plan.distinct !== undefined) return yield* readDistinct(layout, plan.distinct, how.foundBy);
  const found = find && (how.page ? { rows: how.page } : yield* findRows(layout, find, how));
  const rows = found?.rows ?? [];
  if (count === undefined) return { ...found, rows, count: 0 };
  const isPart = found?.stoppedAt !== undefined;
  // A search from the beginning to the end has counted the documents.
  if (isPart || isAll(find, rows)) return { ...found, rows, count: rows.length, isAtLeast: isPart };
  return { rows, ...(yield* countRows(layout, count, how)) };
}

function isAll(find: FindPlan | undefined, { length }: readonly Row[]): boolean {
  if (find === undefined || find.after !== undefined || find.query.offset > 0) return false;
  return length < (find.query.limit ?? Infinity);
}

const noWords = { words: [] };

/** Returns what a plan selects; one that finds and counts has the same words for both. */
export function selectionOf({
  find,
  count,
  groups,
  distinct,
}: ReadPlan): ParsedSelection | undefined {
  return find?.query ?? count ?? groups ?? distinct;
}

/** Returns a selection by something that is to be looked up. */
function lookupsOf(selection: Selected | undefined): Selected | undefined {
  return selection !== undefined && isLookup(selection) ? selection : undefined;
}

function isLookup({ words, members, conditions }: Selected): boolean {
  return words.length > 0 || members !== undefined || conditions !== undefined;
}

/** A plan, and what documents are found by. */
interface SeparatedPlan {
  readonly find: (FindPlan & { readonly query: ParsedQuery & Selected }) | undefined;
  readonly count: (CountPlan & Selected) | undefined;
}

function separated(layout: Layout, { find, count, isBounded }: ReadPlan): SeparatedPlan {
  const how = { isBounded };
  return {
    find: find && {
      ...find,
      query: separateLookups(layout, find.query, { ...how, order: find.query.order }),
    },
    count: count && separateLookups(layout, count, how),
  };
}

/** How a plan is carried out. */
interface How extends Probed {
  readonly isBounded: boolean;
}

function* findRows(
  layout: Layout,
  { query: asked, after }: FindPlan & { readonly query: ParsedQuery & Selected },
  how: How,
): Operation<FoundRows> {
  if (asked.near !== undefined) {
    return { rows: yield* findNear(layout, { query: asked, after }, how) };
  }
  const query = { ...asked, members: how.members ?? asked.members };
  const select = isLookup(query) ? selectSearched : selectAll;
  if (after === undefined) return yield* select(layout, query, how);
  const rows: Row[] = [];
  for (const part of partsAfter(query.order, after, layout)) {
    const limit = query.limit === undefined ? undefined : query.limit - rows.length;
    if (limit === 0) break;
    const found = yield* select(layout, { ...query, limit, part }, how);
    for (const row of found.rows) rows.push(row);
    if (found.stoppedAt !== undefined) return { rows, stoppedAt: found.stoppedAt };
  }
  return { rows };
}

function* selectAll(layout: Layout, query: ParsedQuery & Selected): Operation<FoundRows> {
  const sql = layout.begin({ isShort: isShort(layout, query) });
  const where = whereSql(selectionTerms(layout, query, sql));
  const from = layout.quoted + where + orderSql(query, sql);
  const { rows } = yield selectSql(layout, from, query, sql);
  return { rows };
}

/** Number of rows that are read before anybody notices. */
const fewRows = 1000;

/**
 * Whether an index has the rows of a query in order and all can be seen. No other row is visited
 * then: counting them would only take time, a fifth of that of the statement.
 */
function isShort(
  { softDelete, expiresAt }: Layout,
  { filter, order, limit, offset, part }: ParsedQuery & Selected,
): boolean {
  const isWhole = filter === undefined && part === undefined;
  if (!isWhole || softDelete || expiresAt !== undefined) return false;
  if (limit === undefined || limit + offset > fewRows) return false;
  const [first, second] = order;
  if (first?.path.meta === "id") return true;
  return (
    first?.path.meta === "createdAt" &&
    second?.path.meta === "id" &&
    first.descending === second.descending
  );
}

function* countRows(layout: Layout, plan: CountPlan & Selected, how: How): Operation<Counted> {
  const { max, ...selection } = plan;
  const { near } = selection;
  if (near !== undefined) {
    const search = {
      near,
      selection: { ...selection, foundBy: how.foundBy },
      reach: near.highest,
    };
    const { rows } = yield layout.geo.count(search, max);
    return { count: Number(rows[0]?.[0]) };
  }
  if (isLookup(selection)) {
    return yield* countSearched(layout, { ...plan, members: how.members ?? plan.members }, how);
  }
  if (selectsWhole(layout, plan)) {
    const { definition } = layout;
    const total = yield {
      kind: "total",
      collection: definition.name,
      statement: layout.readTotal?.(),
    };
    if (total.count >= 0) return { count: Math.min(total.count, max ?? Infinity) };
  }
  const sql = layout.begin();
  const from = `${layout.quoted}${whereSql(selectionTerms(layout, selection, sql))}`;
  const { rows } = yield sql.read(countSql(from, max, sql), "repeated");
  return { count: Number(rows[0]?.[0]) };
}

/** Whether a selection is of all documents that were not removed, whose number may be kept. */
export function selectsWhole(
  { expiresAt }: Layout,
  { near, filter, words, deleted }: ParsedSelection,
): boolean {
  const isNarrowed = near !== undefined || filter !== undefined || words.length > 0;
  return !isNarrowed && deleted === "exclude" && expiresAt === undefined;
}

/** Selects documents by their distance from a place, and sorts them by it. */
function* findNear(
  layout: Layout,
  { query, after }: FindPlan,
  { foundBy }: How,
): Operation<readonly Row[]> {
  const { near, limit, offset } = query;
  if (near === undefined) return [];
  let rows: readonly Row[] = [];
  for (const reach of yield* reaches(layout, { query, after })) {
    const search = { near, selection: { ...query, foundBy }, reach, after };
    ({ rows } = yield layout.geo.select(search, limit, offset));
    if (rows.length === limit) break;
  }
  return rows;
}

/** Returns the distances to search within, one after the other until enough is found. */
function* reaches(layout: Layout, { query, after }: FindPlan): Operation<Iterable<number>> {
  const { near, filter, words, deleted, limit, offset } = query;
  if (near === undefined) return [];
  const field = placeOfField(layout.definition, near);
  if (limit === undefined) return [near.highest];
  const needed = limit + offset;
  const sample: Vector[] = [];
  for (const statement of layout.geo.sample(field, cellOf(near.position), sampleSize(needed))) {
    const { rows } = yield statement;
    for (const [x, y, z] of rows) sample.push({ x: Number(x), y: Number(y), z: Number(z) });
  }
  const isFiltered = filter !== undefined || words.length > 0 || deleted === "only";
  return growingReach(near, { needed, behind: Number(after?.[0] ?? 0), sample, isFiltered });
}
