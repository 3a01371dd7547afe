import { partsOf } from "../../document/search-text.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Dialect } from "../dialect.ts";
import type { FoundBy, Layout, Lookup, Selected } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import type { Counted, FoundRows } from "./extent.ts";
import { isWhole } from "./lookups.ts";
import { filterSql } from "./filter-sql.ts";
import { countSql, orderSql, requireSearch, selectionTerms, selectSql, whereSql } from "./where.ts";

/** Documents that are read and sorted for a page: fewer for words, whose texts are slow. */
const fewHits = { words: 1000, contains: 4000, conditions: 4000 };
/** Number of documents up to which nothing rarer is looked for. */
const fewest = 100;
/** Above that, this many are looked at in order, and more for each requested document. */
const walkLength = 8_000;
const walkPerDocument = 20;
/** How many times more documents are looked at than would do if members were spread evenly. */
const unevenness = 2;

/**
 * Entries of an index of words that take about as long as documents in their order: as many for
 * each part as documents have the rarest one.
 */
export const manyEntries = 100_000;
/** Documents of a sample: a word is common when enough of them have it. */
export const sampleSize = 100;
export const commonInSample = 5;

/** A selection with words or members, and a page of it. */
type Search = ParsedQuery & Pick<Selected, "conditions" | "members" | "part" | "walked">;

interface Bounded {
  /** Whether reading may stop early, see `PageQuery.bounded`. */
  readonly isBounded: boolean;
}

/** How the words or members of a selection are looked for. */
export interface Probed {
  readonly foundBy: FoundBy;
  /** Number of matching documents, up to {@link fewHits} plus one; undefined if unknown. */
  readonly hits: number | undefined;
  /** The members, of which those come first that few lists have. */
  readonly members?: Selected["members"];
  /** The page, where it was found together with what it was asked for. */
  readonly page?: readonly Row[] | undefined;
}

/** Finds the keys of documents with the words among those that the index of words does not have. */
export function* findUnindexed(
  layout: Layout,
  words: readonly string[],
): Operation<readonly Row[number][]> {
  requireSearch(layout, words);
  return words.length === 0 ? [] : yield* layout.findUnindexed(words);
}

/**
 * Decides how words or members of lists are looked for. When few documents have them, their index
 * finds those. When many have them, that would take as long as there are many. It is then faster to
 * look at documents in their order, because some of the next ones have them. While the index of
 * words lacks documents with the words, its result and those are read together.
 */
export function* probe(
  layout: Layout,
  { words, members = [], conditions }: Pick<Selected, "conditions" | "members" | "words">,
  {
    unindexed,
    search,
  }: { readonly unindexed: readonly Row[number][]; readonly search?: Search | undefined },
): Operation<Probed> {
  if (unindexed.length > 0) return { foundBy: { unindexed }, hits: undefined };
  const lookups: readonly Lookup[] = [
    ...(conditions ?? []),
    ...members,
    ...(words.length > 0 ? [{ kind: "words", words } as const] : []),
  ];
  const [only] = lookups;
  if (only === undefined) {
    return { foundBy: conditions === undefined ? "index" : "document", hits: undefined };
  }
  if (lookups.length === 1) {
    const probed = search && (yield* probePage(layout, only, search));
    return probed ?? (yield* probeLookup(layout, only));
  }
  let best: Probed = { foundBy: "document", hits: undefined };
  for (const lookup of lookups) {
    const probed = yield* probeLookup(layout, lookup);
    if (probed.foundBy === "document" || Number(probed.hits) >= (best.hits ?? Infinity)) continue;
    best = {
      ...probed,
      members: members.toSorted((one, other) => Number(other === lookup) - Number(one === lookup)),
    };
    if (Number(probed.hits) <= fewest) break;
  }
  return best;
}

/** Looks up words or members and reads a page of few hits; undefined: two statements. */
function* probePage(layout: Layout, lookup: Lookup, search: Search): Operation<Probed | undefined> {
  const { limit, near, offset, deleted } = search;
  const isPage = limit !== undefined && !near && offset === 0 && deleted === "exclude";
  if (layout.searching.probePage === undefined || !isPage) return undefined;
  const few = fewHits[lookup.kind];
  const maxHits = lookup.kind === "words" ? few : Math.min(few, sortedHits(limit));
  const rest = (sql: Dialect): string => {
    const where = whereSql(selectionTerms(layout, { ...search, words: [], members: [] }, sql));
    return `${where}${orderSql(search, sql)}${sql.page(limit, 0)}`;
  };
  const { rows } = yield layout.searching.probePage(lookup, few + 1, { maxHits, rest });
  const [[found = null] = [], ...page] = rows;
  if (found === null) return { foundBy: "document", hits: undefined };
  const hits = Number(found);
  const foundBy = hits > few ? "document" : "index";
  return { foundBy, hits, page: hits > maxHits ? undefined : page };
}

function* probeLookup(layout: Layout, lookup: Lookup): Operation<Probed> {
  if (lookup.kind === "words" && (yield* meetsRarely(layout, lookup.words))) {
    return { foundBy: "document", hits: undefined };
  }
  const few = fewHits[lookup.kind];
  const { rows } = yield layout.searching.probe(lookup, few + 1);
  const [found = null, keys] = rows[0] ?? [];
  if (found === null) return { foundBy: "document", hits: undefined };
  const hits = Number(found);
  if (hits > few) return { foundBy: "document", hits };
  const foundBy = typeof keys === "string" ? { keys: readKeys(keys), of: lookup } : "index";
  return { foundBy, hits };
}

/**
 * Whether a sample shows that reading the index of words takes longer than looking at documents in
 * their order. So it is where words or their parts are common alone and rare together.
 */
function* meetsRarely(layout: Layout, words: readonly string[]): Operation<boolean> {
  const sample = layout.searching.sample?.(words);
  if (sample === undefined) return false;
  const { rows } = yield sample;
  const [together = 0, ...parts] = (rows[0] ?? []).map(Number);
  if (together >= commonInSample) return false;
  const { name } = layout.definition;
  const total = yield { kind: "total", collection: name, statement: layout.readTotal?.() };
  const entries = (Math.min(...parts) * partsOf(words).count * total.count) / sampleSize;
  return entries > manyEntries;
}

function readKeys(text: string): readonly number[] {
  const keys: unknown = JSON.parse(text);
  return Array.isArray(keys) ? keys.map(Number) : [];
}

/**
 * Selects a page of a search by words or by members of lists.
 *
 * In the worst case many documents have them, but too few of those that come first in the order.
 * Then some 8,000 documents are looked at in vain, and all that have them are read and sorted after
 * that. For a sort without an index, and a search without a limit, that is done at once.
 */
export function* selectSearched(
  layout: Layout,
  search: Search,
  { isBounded, ...probed }: Bounded & Probed,
): Operation<FoundRows> {
  const { limit } = search;
  const { foundBy } = probed;
  const reaches = yield* pageReaches(layout, search, probed);
  for (const reach of reaches) {
    const sql = layout.begin();
    const walked = walkSql(layout, search, { reach, sql });
    const { rows } = yield selectSql(layout, walked, search, sql);
    if (rows.length === limit) return { rows };
    const last = yield* lastWalked(layout, search, reach);
    if (last === undefined) return { rows };
    const isLast = foundBy === "document" && reach === reaches.at(-1);
    if (isBounded && isLast && (yield* mayStop(layout, search, last))) {
      return { rows, stoppedAt: last };
    }
  }
  const sql = layout.begin();
  const found = foundSql(layout, { ...search, foundBy: inIndex(foundBy) }, sql);
  const { rows } = yield selectSql(layout, found + orderSql(search, sql), search, sql);
  return { rows };
}

/** Counts the documents of a search up to `max`; cost as {@link selectSearched}. */
export function* countSearched(
  layout: Layout,
  { max, ...selection }: ParsedSelection & Selected & { readonly max?: number | undefined },
  { isBounded, foundBy, hits }: Bounded & Probed,
): Operation<Counted> {
  const { words, members = [], deleted } = selection;
  const isProbed = layout.searching.probesVisible && layout.expiresAt === undefined;
  const [lookup = { kind: "words", words }]: readonly Lookup[] = members;
  if (isProbed && deleted === "exclude" && isWhole(selection, lookup) && hits !== undefined) {
    const isAll = hits <= fewHits[lookup.kind];
    if (isAll || hits >= (max ?? Infinity)) return { count: Math.min(hits, max ?? hits) };
    const { rows } = yield layout.searching.count(lookup, max);
    const found = rows[0]?.[0] ?? null;
    if (found !== null) return { count: Number(found) };
  }
  if (max !== undefined && foundBy === "document") {
    const reach = isBounded ? walkLength : reachOf(max);
    const sql = layout.begin();
    const walked = walkSql(layout, { ...selection, order: [] }, { reach, sql });
    const { rows } = yield sql.read(countSql(walked, max, sql), "repeated");
    const count = Number(rows[0]?.[0]);
    if (count === max) return { count };
    const last = yield* lastWalked(layout, { ...selection, order: [] }, reach);
    if (last === undefined || isBounded) return { count, isAtLeast: last !== undefined };
  }
  const sql = layout.begin();
  const found = foundSql(layout, { ...selection, foundBy: inIndex(foundBy) }, sql);
  const { rows } = yield sql.read(countSql(found, max, sql), "repeated");
  return { count: Number(rows[0]?.[0]) };
}

/** Writes FROM and WHERE: the documents that are found by what they are searched for. */
function foundSql(
  layout: Layout,
  selected: Selected & { readonly foundBy: FoundBy },
  sql: Dialect,
): string {
  const where = whereSql(selectionTerms(layout, selected, sql));
  return layout.searching.apart(where, selected.foundBy);
}

function inIndex(foundBy: FoundBy): FoundBy {
  return foundBy === "document" ? "index" : foundBy;
}

/** Whether an index has this order, so that the next ones are found directly. */
function hasOrder({ indexes }: Layout, { order: [first], walked }: Search): boolean {
  if (walked !== undefined) return true;
  const field = first?.path.text;
  return (
    field === "id" || field === "createdAt" || indexes.some(({ fields }) => fields[0] === field)
  );
}

/**
 * Returns how many documents are looked at in their order for a page, one attempt after the other;
 * none where those that have the words or members are better read and sorted.
 */
function* pageReaches(
  layout: Layout,
  search: Search,
  { foundBy, hits = 0 }: Probed,
): Operation<readonly number[]> {
  const { limit, offset, words, deleted } = search;
  if (limit === undefined || !hasOrder(layout, search)) return [];
  const wanted = limit + offset;
  if (foundBy === "document") {
    const whole = reachOf(wanted);
    return layout.searching.walksWhole ? [wanted * walkPerDocument, whole] : [whole];
  }
  const lookup = lookupOf(search, foundBy);
  const isEven = words.length === 0 && deleted === "exclude" && isWhole(search, lookup);
  if (!isEven || hits <= sortedHits(wanted)) return [];
  const { name } = layout.definition;
  const total = yield { kind: "total", collection: name, statement: layout.readTotal?.() };
  if (total.count < 0) return [];
  const reach = Math.ceil((wanted * unevenness * total.count) / hits);
  return reach <= hits / 2 ? [reach] : [];
}

/** Returns what the documents were found by. */
function lookupOf({ words, members: [member] = [] }: Search, foundBy: FoundBy): Lookup {
  if (typeof foundBy === "object" && "keys" in foundBy) return foundBy.of;
  return member ?? { kind: "words", words };
}

/** Documents that are read and sorted before looking in order can save anything. */
function sortedHits(wanted: number): number {
  return wanted * unevenness * 2;
}

function reachOf(wanted: number): number {
  return walkLength + walkPerDocument * wanted;
}

/** Writes FROM and WHERE: the first documents in order, of those the matching texts. */
function walkSql(
  layout: Layout,
  selection: Selected & Pick<ParsedQuery, "order">,
  { reach, sql }: { readonly reach: number; readonly sql: Dialect },
): string {
  const { words, members = [] } = selection;
  const where = whereSql(selectionTerms(layout, walkedOf(layout, selection), sql));
  const sorted = orderSql(selection, sql);
  const walked = layout.searching.inOrder(`${where}${sorted}${sql.page(reach, 0)}`);
  const filter = layout.searching.findsConditions ? selection.filter : undefined;
  const terms = filter === undefined ? [] : [filterSql(filter, sql)];
  terms.push(...members.map(({ path, values }) => sql.contains(path, values)));
  if (words.length > 0) terms.push(...sql.hasWords(words));
  return walked + whereSql(terms);
}

/** Selects from an index in order: where the store decides, others are checked singly. */
function walkedOf({ searching }: Layout, { filter, walked, deleted, part }: Selected): Selected {
  return { filter: searching.findsConditions ? walked : filter, words: [], deleted, part };
}

/** Reads the last row that was walked; undefined when there are no more rows behind it. */
function* lastWalked(
  layout: Layout,
  selection: Selected & Pick<ParsedQuery, "order">,
  reach: number,
): Operation<Row | undefined> {
  const [last, ...more] = yield* walkedRows(layout, selection, { at: reach - 1, limit: 2 });
  return more.length > 0 ? last : undefined;
}

/**
 * Whether reading may stop at a row. The next page begins at its time of creation, so the walked
 * rows must be of more than one time.
 */
function* mayStop(layout: Layout, search: Search, last: Row): Operation<boolean> {
  const [time, id] = search.order;
  if (time?.path.meta !== "createdAt" || id?.path.meta !== "id") return false;
  const [first] = yield* walkedRows(layout, search, { at: 0, limit: 1 });
  return first !== undefined && first[createdAtColumn] !== last[createdAtColumn];
}

/** Place of the time of creation in `Layout.columns`. */
const createdAtColumn = 2;

function* walkedRows(
  layout: Layout,
  selection: Selected & Pick<ParsedQuery, "order">,
  { at, limit }: { readonly at: number; readonly limit: number },
): Operation<readonly Row[]> {
  const sql = layout.begin();
  const where = whereSql(selectionTerms(layout, walkedOf(layout, selection), sql));
  const sorted = where + orderSql(selection, sql) + sql.page(limit, at);
  const { rows } = yield sql.read(`SELECT ${layout.columns} FROM ${layout.quoted}${sorted}`);
  return rows;
}
