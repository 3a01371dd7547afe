import type { Collection, FindQuery, Stored } from "@fetchwork/documents";
import { invalid } from "./http-failure.ts";

/** Part of a list that a client wants. */
export interface WantedPage {
  readonly page: number;
  readonly size: number;
}

/** Information of the protocol about a part of a list. */
export interface Pagination {
  readonly total_items: number;
  readonly total_pages: number;
  readonly current_page: number;
  readonly page_size: number;
}

/** More entries are never sent at once; the pagination says so. */
export const largestPage = 1_000;

const largestInt32 = 2 ** 31 - 1;

/**
 * Reads `current_page` (default 1) and `page_size` (default 10, never more than 1,000).
 *
 * @throws HttpFailure 422 for values other than an int32 from 1 on
 */
export function readPage({ url }: Request): WantedPage {
  const query = new URL(url).searchParams;
  return {
    page: readNumber(query, "current_page", 1),
    size: Math.min(readNumber(query, "page_size", 10), largestPage),
  };
}

function readNumber(query: URLSearchParams, name: string, fallback: number): number {
  const values = query.getAll(name);
  if (values.length === 0) return fallback;
  const [value = ""] = values;
  const number = /^\d{1,10}$/.test(value) && values.length === 1 ? Number(value) : 0;
  if (number >= 1 && number <= largestInt32) return number;
  throw invalid(`${name} must be a whole number from 1 to ${largestInt32}`);
}

/** Reads a part of a list, and tells where in the list it is. */
export async function listPage<T extends object>(
  collection: Collection<T>,
  query: Pick<FindQuery<T>, "sort" | "where">,
  { page, size }: WantedPage,
): Promise<{ readonly items: readonly Stored<T>[]; readonly pagination: Pagination }> {
  const { where } = query;
  const [items, total] = await Promise.all([
    collection.find({ ...query, offset: (page - 1) * size, limit: size }),
    collection.count({ where }),
  ]);
  const pagination = {
    total_items: total,
    total_pages: Math.ceil(total / size),
    current_page: page,
    page_size: size,
  };
  return { items, pagination };
}
