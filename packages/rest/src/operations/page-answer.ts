import { InputError, type UntypedWhere } from "@fetchwork/documents";
import { empty, text } from "@fetchwork/http";
import { contentTag, noneMatchHolds } from "../etag.ts";
import { fieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import type { ResourceCall } from "../resource/call.ts";
import { type ListQuery, nameOf } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { type Found, pageFinder } from "./find-page.ts";

/**
 * Finds the page of a list that a query asks for, and counts as the resource says.
 *
 * @param limits - What documents have to pass beside the filters of the query. Default: nothing.
 * @throws Problem 400 for a search or a cursor that the store does not understand.
 */
export type PageFinder = (
  call: Pick<ResourceCall, "query" | "store">,
  query: ListQuery,
  limits?: UntypedWhere | void,
) => Promise<Found>;

/** Parameters that only the store can judge. All else was checked before: an error there is one of the program itself. */
const knownToStore = ["after", "q", "sort"] as const;

/** Makes the function that finds pages of a resource. */
export function createPageFinder(resource: Resource): PageFinder {
  const { collection, list: rules } = resource;
  const find = pageFinder(resource);
  return async (call, query, limits) => {
    const where = query.where && limits ? { and: [query.where, limits] } : (limits ?? query.where);
    try {
      const documents = call.store.collection(collection);
      return await find(documents, { ...query, where }, call.query, call.store);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const parameter = knownToStore.find((one) => one === error.path);
      if (parameter === undefined) throw error;
      const name = nameOf(parameter, rules) ?? parameter;
      const message =
        parameter === "after" ? `${name} is no cursor of this list in this order` : error.message;
      throw badFields([fieldError(name, "invalid", message)]);
    }
  };
}

/**
 * Answers with a page: the body as JSON with `Link`, the count and an entity tag of the content; 304 when the caller has
 * the same.
 */
export function pageAnswer(
  { request }: Pick<ResourceCall, "request">,
  page: Omit<Found, "documents">,
  rows: unknown,
): Response {
  const body = JSON.stringify(rows);
  const tag = contentTag(`${page.count ?? ""} ${page.link} ${body}`);
  const headers = pageHeaders(page, tag);
  if (noneMatchHolds(request.headers.get("if-none-match"), tag)) return empty(304, { headers });
  return text(body, { headers: { "content-type": "application/json", ...headers } });
}

/** The headers of a page: its links, the count as far as there is one, and the entity tag, which is a weak one. */
export function pageHeaders(
  { count, isCapped, link }: Omit<Found, "documents">,
  etag: string,
): Record<string, string> {
  return {
    link,
    ...(count === undefined ? {} : { "x-total-count": String(count) }),
    ...(isCapped ? { "x-total-count-capped": "true" } : {}),
    etag: `W/${etag}`,
  };
}
