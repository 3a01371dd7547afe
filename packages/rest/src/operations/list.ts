import { InputError, type Collection, type Stored, type UntypedWhere } from "@fetchwork/documents";
import { empty, text } from "@fetchwork/http";
import { forbidden } from "../access.ts";
import { bearerRequired } from "../authentication.ts";
import { contentTag, noneMatchHolds } from "../etag.ts";
import { fieldError } from "../field-error.ts";
import { createListReader, nameOf, type ListQuery } from "../list-query.ts";
import type { Near } from "../near.ts";
import { cursorLinks, pageLinks } from "../page-links.ts";
import { badFields } from "../problem.ts";
import { populate } from "../relations/populate.ts";
import { readPopulate, withoutPopulate } from "../relations/populate-parameter.ts";
import type { Fields, Resource } from "../resource.ts";
import type { ResourceCall, ResourceHandler } from "./resource-call.ts";

/** One page of what was asked for. */
interface Found {
  readonly documents: readonly Stored<Fields>[];
  /** Documents on all pages; `undefined` when they are not counted. */
  readonly count: number | undefined;
  /** Whether there are more than `count`. */
  readonly isCapped: boolean;
  readonly link: string;
}

/** Makes the handler that lists documents. */
export function listOperation(resource: Resource): ResourceHandler {
  const { collection, hooks, list: rules, present, shape } = resource;
  const read = createListReader(rules);
  const find = finder(resource);

  return async (call) => {
    const tree = readPopulate(resource, call.query);
    const query = read(withoutPopulate(resource, call.query));
    if (query.trash !== undefined) requireTrash(resource, call);
    const limits = hooks.beforeList && (await hooks.beforeList({ call }));
    const where = both(query.where, limits ?? undefined);
    const documents = call.store.collection(collection);
    const found = await find(documents, { ...query, where }, call.query).catch(refuseQuery);
    const shown = found.documents.map((document) => present(document, query.fields));
    const changed =
      hooks.afterList && (await hooks.afterList({ call, documents: found.documents, rows: shown }));
    const rows = changed ?? shown;
    const whole = tree
      ? await populate(call, { resource, documents: found.documents, rows }, tree)
      : rows;
    return answer(call, { ...found, rows: whole });
  };

  function answer(
    { request }: ResourceCall,
    { rows, count, isCapped, link }: Found & { readonly rows: readonly Fields[] },
  ): Response {
    const body = JSON.stringify(shape === "array" ? rows : { rows, count });
    const headers: Record<string, string> = { "content-type": "application/json", link };
    if (count !== undefined) headers["x-total-count"] = String(count);
    if (isCapped) headers["x-total-count-capped"] = "true";
    headers["etag"] = contentTag(`${count ?? ""} ${link} ${body}`);
    if (noneMatchHolds(request.headers.get("if-none-match"), headers["etag"])) {
      delete headers["content-type"];
      return empty(304, { headers });
    }
    return text(body, { headers });
  }

  /** All but the search and the cursor was checked before, and only the store knows what these may be. */
  function refuseQuery(error: unknown): never {
    if (!(error instanceof InputError)) throw error;
    const parameter = error.path === "after" ? "after" : "q";
    const name = nameOf(parameter, rules) ?? parameter;
    const message =
      parameter === "q" ? error.message : `${name} is no cursor of this list in this order`;
    throw badFields([fieldError(name, "invalid", message)]);
  }
}

type Find = (
  documents: Collection<Fields>,
  query: ListQuery,
  parameters: URLSearchParams,
) => Promise<Found>;

function finder({ count: counting, list: rules, path }: Resource): Find {
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

function both(
  one: UntypedWhere | undefined,
  other: UntypedWhere | undefined,
): UntypedWhere | undefined {
  if (!one || !other) return one ?? other;
  return { and: [one, other] };
}

/** Removed documents are for admins, and for the holder of the master key where the list needs it. */
function requireTrash({ access }: Resource, { user }: ResourceCall): void {
  if (access.list === "master" || user?.role === "admin") return;
  throw user ? forbidden("only admins see what was removed") : bearerRequired(undefined);
}
