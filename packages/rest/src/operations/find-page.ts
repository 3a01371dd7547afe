import type { Collection, Stored, UntypedWhere } from "@fetchwork/documents";
import type { ListQuery } from "../list-query.ts";
import type { Near } from "../near.ts";
import { cursorLinks, pageLinks } from "../page-links.ts";
import type { Fields, Resource } from "../resource.ts";
import { nameOf } from "../standard-parameters.ts";

/** One page of what was asked for. */
export interface Found {
  readonly documents: readonly Stored<Fields>[];
  /** Documents on all pages; `undefined` when they are not counted. */
  readonly count: number | undefined;
  /** Whether there are more than `count`. */
  readonly isCapped: boolean;
  readonly link: string;
}

/** Finds a page. */
export type Find = (
  documents: Collection<Fields>,
  query: ListQuery,
  parameters: URLSearchParams,
) => Promise<Found>;

/** Makes the function that finds pages, by number or by cursor, and counts as the resource says. */
export function pageFinder({ count: counting, list: rules, path }: Resource): Find {
  const names = {
    page: nameOf("page", rules),
    limit: nameOf("limit", rules),
    after: nameOf("after", rules),
  };
  const place = { path, names };

  return (documents, query, parameters) =>
    query.after === undefined
      ? byNumber(documents, query, parameters)
      : byCursor(documents, query, parameters);

  async function byNumber(...[documents, query, parameters]: Parameters<Find>): Promise<Found> {
    const { page, limit } = query;
    const selection = selectionOf(query);
    // Without the number of all documents only one more tells whether there is a next page.
    const extra = counting === "exact" ? 0 : 1;
    const [found, counted] = await Promise.all([
      documents.find({
        ...selection,
        ...orderOf(query),
        limit: limit + extra,
        offset: (page - 1) * limit,
      }),
      countOf(documents, selection),
    ]);
    const { count, isCapped } = counted;
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

  async function byCursor(...[documents, query, parameters]: Parameters<Find>): Promise<Found> {
    const { after, limit } = query;
    const selection = selectionOf(query);
    const [{ items, next }, { count, isCapped }] = await Promise.all([
      documents.page({ ...selection, ...orderOf(query), limit, after: after || undefined }),
      countOf(documents, selection),
    ]);
    const link = cursorLinks(place, parameters, { limit, next });
    return { documents: items, count, isCapped, link };
  }

  async function countOf(
    documents: Collection<Fields>,
    selection: Selection,
  ): Promise<{ readonly count: number | undefined; readonly isCapped: boolean }> {
    if (counting === "none") return { count: undefined, isCapped: false };
    if (counting === "exact") return { count: await documents.count(selection), isCapped: false };
    const count = await documents.count({ ...selection, max: counting + 1 });
    return { count: Math.min(count, counting), isCapped: count > counting };
  }
}

interface Selection {
  readonly q?: string | undefined;
  readonly where?: UntypedWhere | undefined;
  readonly near?: Near | undefined;
  readonly deleted?: "include" | "only" | undefined;
}

function selectionOf({ near, q, trash, where }: ListQuery): Selection {
  if (trash === undefined) return { q, where, near };
  return { q, where, near, deleted: trash === "only" ? "only" : "include" };
}

/** The distance is an order of its own. */
function orderOf({ near, sort }: ListQuery): { readonly sort: readonly string[] | undefined } {
  return { sort: near ? undefined : sort };
}
