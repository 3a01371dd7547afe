import {
  InputError,
  type Page,
  type Store,
  type Stored,
  type Total,
  type UntypedWhere,
} from "@fetchwork/documents";
import { fieldError } from "../field-error.ts";
import type { Fields } from "../fields.ts";
import { badFields } from "../problem.ts";
import type { ResourceCall } from "../resource/call.ts";
import type { ListQuery, NearPoint } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { cursorLinks, pageLinks } from "./page-links.ts";

/** One page of what was asked for. */
export interface Found {
  readonly documents: readonly Stored<Fields>[];
  /** Documents on all pages; `undefined` when they are not counted. */
  readonly count: number | undefined;
  /** Whether there are more than `count`. */
  readonly isCapped: boolean;
  /** Whether reading ended early, so that more may follow by the next link. Default: `false`. */
  readonly isPartial?: boolean | undefined;
  readonly link: string;
}

/**
 * Finds the page of a list that a query asks for, and counts as the resource says.
 *
 * @param limits - Conditions of documents in addition to the filters of the query. Default:
 * nothing.
 * @throws Problem 400 for a search or a cursor that the store does not understand.
 */
type PageFinder = (
  call: Pick<ResourceCall, "query" | "store">,
  query: ListQuery,
  limits?: UntypedWhere,
) => Promise<Found>;

/** Parameters that only the store can judge. Any other error is the program's own. */
const knownToStore = ["after", "q", "sort"] as const;

/** Up to how many documents are counted where something narrows a list. */
const defaultBound = 1000;

/** Makes the function that finds pages of a resource, by number or by cursor. */
export function createPageFinder(resource: Resource): PageFinder {
  const { collection, count: shownCount, path, softDelete } = resource;

  return async ({ query: parameters, store }, query, limits) => {
    const where = query.where && limits ? { and: [query.where, limits] } : (limits ?? query.where);
    const isFirst = query.page === 1 && isBounded(query);
    const find = query.after === undefined && !isFirst ? byNumber : byCursor;
    try {
      return await find(store, { ...query, where }, parameters);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const parameter = knownToStore.find((one) => one === error.path);
      if (parameter === undefined) throw error;
      const message =
        parameter === "after" ? "after must be a cursor of this list in this order" : error.message;
      throw badFields([fieldError(parameter, "invalid", message)]);
    }
  };

  function pageOf(store: Store, query: ListQuery): Promise<Page<Stored<Fields>>> {
    const { after, limit } = query;
    const selection = selectionOf(query);
    const bounded = isBounded(query);
    const total = bounded ? boundOf(selection) || "none" : "none";
    const asked = { ...selection, ...orderOf(query), limit, after: after || undefined };
    return store.collection(collection).page({ ...asked, total, bounded });
  }

  /** Whether a list may end early: a narrowed one that does not state its exact number. */
  function isBounded(query: ListQuery): boolean {
    const selection = selectionOf(query);
    const canGoOn = selection.near === undefined;
    return canGoOn && isNarrowed(selection) && boundOf(selection) !== Infinity;
  }

  async function byNumber(
    store: Store,
    query: ListQuery,
    parameters: URLSearchParams,
  ): Promise<Found> {
    const { page, limit } = query;
    const selection = selectionOf(query);
    const offset = (page - 1) * limit;
    // Without the number of all documents only one more tells whether there is a next page.
    const bound = boundOf(selection);
    const extra = bound === Infinity ? 0 : 1;
    const asked = { ...selection, ...orderOf(query), limit: limit + extra, offset };
    const finding = store.collection(collection).find(asked);
    // A narrowed list may fit on one page, which then shows the number of its documents. Counting
    // costs as much as finding.
    const counting = isNarrowed(selection) ? undefined : countOf(store, selection);
    // It is awaited once the page is there, which may fail before.
    counting?.catch(() => undefined);
    const found = await finding;
    const isWhole = counting === undefined && found.length < limit + extra;
    const { count, isCapped } =
      isWhole && (found.length > 0 || page === 1)
        ? countedAs(offset + found.length, bound)
        : await (counting ?? countOf(store, selection));
    const total = isCapped ? undefined : count;
    const hasNext = found.length > limit;
    const link = pageLinks(path, parameters, { page, limit, total, hasNext });
    return {
      documents: found.length > limit ? found.slice(0, limit) : found,
      count,
      isCapped,
      link,
    };
  }

  /**
   * Reads the first page of what may be bounded, and the page behind a cursor: no more than its
   * share of a large collection. A cursor goes on where that is too little.
   */
  async function byCursor(
    store: Store,
    query: ListQuery,
    parameters: URLSearchParams,
  ): Promise<Found> {
    const { after, limit } = query;
    const [{ items, next, partial, total }, whole] = await Promise.all([
      pageOf(store, query),
      isBounded(query) ? undefined : countOf(store, selectionOf(query)),
    ]);
    const counted = whole ?? totalOf(total);
    const hasCursors = after !== undefined || partial;
    const at = { page: 1, limit, total: counted.isCapped ? undefined : counted.count };
    const link = hasCursors
      ? cursorLinks(path, parameters, { limit, next })
      : pageLinks(path, parameters, { ...at, hasNext: next !== undefined });
    return { documents: items, ...counted, isPartial: partial, link };
  }

  async function countOf(store: Store, selection: Selection): Promise<Counted> {
    const bound = boundOf(selection);
    if (bound === 0) return notCounted;
    const max = bound === Infinity ? undefined : bound + 1;
    return countedAs(await store.collection(collection).count({ ...selection, max }), bound);
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

function totalOf(total: Total | undefined): Counted {
  return total ? { count: total.count, isCapped: !total.exact } : notCounted;
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

/** The distance is an order too. */
function orderOf({ near, sort }: ListQuery): { readonly sort: readonly string[] | undefined } {
  return { sort: near ? undefined : sort };
}
