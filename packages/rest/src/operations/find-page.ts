import type { Collection, Store, Stored, UntypedWhere } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import { type ListQuery, nameOf, type NearPoint } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { cursorLinks, pageLinks } from "./page-links.ts";

/** One page of what was asked for. */
export interface Found {
  readonly documents: readonly Stored<Fields>[];
  /** Documents on all pages; `undefined` when they are not counted. */
  readonly count: number | undefined;
  /** Whether there are more than `count`. */
  readonly isCapped: boolean;
  readonly link: string;
}

/** Finds a page; lists of one store share the counting of the whole collection. */
export type Find = (
  documents: Collection<Fields>,
  query: ListQuery,
  parameters: URLSearchParams,
  store?: Store,
) => Promise<Found>;

/** Up to how many documents are counted where something narrows a list. */
const defaultBound = 1000;

/** Makes the function that finds pages, by number or by cursor, and counts as the resource says. */
export function pageFinder({ count: shownCount, list: rules, path, softDelete }: Resource): Find {
  const names = {
    page: nameOf("page", rules),
    limit: nameOf("limit", rules),
    after: nameOf("after", rules),
  };
  const place = { path, names };
  const wholes = new WeakMap<Store, Map<Selection["deleted"], () => Promise<number>>>();

  return (documents, query, parameters, store) =>
    query.after === undefined
      ? byNumber(documents, query, parameters, store)
      : byCursor(documents, query, parameters, store);

  async function byNumber(
    ...[documents, query, parameters, store]: Parameters<Find>
  ): Promise<Found> {
    const { page, limit } = query;
    const selection = selectionOf(query);
    const offset = (page - 1) * limit;
    // Without the number of all documents only one more tells whether there is a next page.
    const bound = boundOf(selection);
    const extra = bound === Infinity ? 0 : 1;
    const asked = { ...selection, ...orderOf(query), limit: limit + extra, offset };
    const finding = documents.find(asked);
    // What is narrowed may be on one page, which then tells how many there are: counting costs as much as finding did.
    const counting = isNarrowed(selection) ? undefined : countOf(documents, selection, store);
    // It is awaited once the page is there, which may fail before.
    counting?.catch(() => undefined);
    const found = await finding;
    const isWhole = counting === undefined && found.length < limit + extra;
    const { count, isCapped } =
      isWhole && (found.length > 0 || page === 1)
        ? countedAs(offset + found.length, bound)
        : await (counting ?? countOf(documents, selection));
    const total = isCapped ? undefined : count;
    const hasNext = found.length > limit;
    const link = pageLinks(place, parameters, { page, limit, total, hasNext });
    return {
      documents: found.length > limit ? found.slice(0, limit) : found,
      count,
      isCapped,
      link,
    };
  }

  async function byCursor(
    ...[documents, query, parameters, store]: Parameters<Find>
  ): Promise<Found> {
    const { after, limit } = query;
    const selection = selectionOf(query);
    const [{ items, next }, { count, isCapped }] = await Promise.all([
      documents.page({ ...selection, ...orderOf(query), limit, after: after || undefined }),
      countOf(documents, selection, store),
    ]);
    const link = cursorLinks(place, parameters, { limit, next });
    return { documents: items, count, isCapped, link };
  }

  function countOf(
    documents: Collection<Fields>,
    selection: Selection,
    store?: Store,
  ): Promise<Counted> {
    const bound = boundOf(selection);
    if (bound === 0) return Promise.resolve(notCounted);
    const max = bound === Infinity ? undefined : bound + 1;
    const isShared = store !== undefined && !isNarrowed(selection);
    const counting = isShared
      ? wholeOf(store, selection, () => documents.count({ ...selection, max }))()
      : documents.count({ ...selection, max });
    return counting.then((count) => countedAs(count, bound));
  }

  /** Every page of a list asks for the same number, and PostgreSQL counts rows one by one. */
  function wholeOf(
    store: Store,
    { deleted }: Selection,
    count: () => Promise<number>,
  ): () => Promise<number> {
    const counts = wholes.get(store) ?? new Map<Selection["deleted"], () => Promise<number>>();
    const shared = counts.get(deleted) ?? shareRuns(count);
    wholes.set(store, counts.set(deleted, shared));
    return shared;
  }

  /** Up to how many documents are counted: 0 for none. */
  function boundOf(selection: Selection): number {
    if (shownCount === "none") return 0;
    if (shownCount === "exact") return Infinity;
    if (shownCount !== "bounded") return shownCount;
    // The store keeps the number of all documents, of which removed ones are no part.
    return softDelete || isNarrowed(selection) ? defaultBound : Infinity;
  }
}

/** Documents on all pages, as far as they are counted. */
type Counted = Pick<Found, "count" | "isCapped">;

function countedAs(count: number, bound: number): Counted {
  if (bound === 0) return notCounted;
  return { count: Math.min(count, bound), isCapped: count > bound };
}

const notCounted: Counted = { count: undefined, isCapped: false };

interface Selection {
  readonly q?: string | undefined;
  readonly where?: UntypedWhere | undefined;
  readonly near?: NearPoint | undefined;
  readonly deleted?: "include" | "only" | undefined;
}

/** Whether a selection is a part of the collection, and so perhaps one that a page has room for. */
function isNarrowed({ near, q, where }: Selection): boolean {
  return (q ?? where ?? near) !== undefined;
}

function selectionOf({ near, q, trash, where }: ListQuery): Selection {
  if (trash === undefined) return { q, where, near };
  return { q, where, near, deleted: trash === "only" ? "only" : "include" };
}

/** The distance is an order of its own. */
function orderOf({ near, sort }: ListQuery): { readonly sort: readonly string[] | undefined } {
  return { sort: near ? undefined : sort };
}

/**
 * Makes a function that does the work once for all who ask while it is under way: they wait until it is over, and share
 * the next run. So every answer is of a run that began after it was asked for, as if each had one of its own.
 *
 * It is for reads that cost more than their answer, such as counting what many lists count at a time. A run that fails
 * fails for all who share it.
 *
 * @example
 * ```ts
 * const countArticles = shareRuns(() => store.collection(article.collection).count());
 * ```
 */
export function shareRuns<R>(work: () => Promise<R>): () => Promise<R> {
  let running: Promise<void> | undefined;
  let next: Promise<R> | undefined;

  function begin(): Promise<R> {
    next = undefined;
    const run = work();
    running = run.then(over, over);
    return run;
  }

  function over(): void {
    if (next === undefined) running = undefined;
  }

  return () => (running === undefined ? begin() : (next ??= running.then(begin)));
}
