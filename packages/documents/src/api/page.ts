import type { FindQuery } from "./find-query.ts";

/** Selects, sorts and limits one page. */
export interface PageQuery<T> extends Omit<FindQuery<T>, "offset"> {
  /** The maximum number of documents on the page, 1 to 10,000. Default: 30. */
  readonly limit?: number | undefined;
  /**
   * Whether to count what the filter and the search select: not at all (`"none"`), all of it
   * (`"exact"`), or up to a number from 1, which bounds the work. Default: `"none"`.
   */
  readonly total?: number | "exact" | "none" | undefined;
  /**
   * Whether the page may end early, to cost as much in a large collection as in a small one. That
   * concerns words, members and conditions that many documents have alone and few together. For
   * them it looks at 8,000 documents and 20 for each of `limit` at most, in the order of creation.
   * The total looks at as many. On PostgreSQL that holds for words and members; its planner decides
   * about conditions. In distributed mode words are always looked up in the index. Default:
   * `false`.
   */
  readonly bounded?: boolean | undefined;
}

/** A part of what a query selects. */
export interface Page<D> {
  /** The documents, in order. */
  readonly items: readonly D[];
  /** The cursor that `after` takes for the next page; `undefined` on the last one. */
  readonly next: string | undefined;
  /** The number of documents on all pages; `undefined` when it was not asked for. */
  readonly total: Total | undefined;
  /**
   * Set when the page ended early, see `bounded`: there may be more documents behind `next`, so
   * following it yields each of them. Its cursor then holds a time of creation, of documents that
   * are perhaps not selected.
   */
  readonly partial?: true | undefined;
}

/** A count, which may have stopped early. */
export interface Total {
  /** The number of documents, or the number at which the counting stopped. */
  readonly count: number;
  /** Whether `count` is all of them; `false` when there are more. */
  readonly exact: boolean;
}
