import type { AggregateQuery } from "./aggregate.ts";
import type { CountQuery, FindQuery } from "./find-query.ts";
import type { PageQuery } from "./page.ts";

/** A query of `find`, `page`, `count` or `aggregate`. */
export type ExplainedQuery<T> = AggregateQuery<T> | CountQuery<T> | FindQuery<T> | PageQuery<T>;

/** Options of `explain`. */
export interface ExplainOptions {
  /** The method that runs the query. Default: `"find"`. */
  readonly method?: "aggregate" | "count" | "find" | "page" | undefined;
}

/** An index that serves a query. */
export interface ServingIndex {
  /**
   * The option of the definition that declares it; `createdAt` has an `"index"` and `id` a
   * `"unique"` one without being declared.
   */
  readonly kind: "geo" | "index" | "search" | "unique";
  /** The fields of the index, in order. */
  readonly fields: readonly string[];
}

/** A query that no index serves. */
export interface UnindexedQuery extends Explanation {
  /** The name of the collection. */
  readonly collection: string;
}

/**
 * How the indexes of the definition serve a query. It depends on the form of the query only, so it
 * holds however many documents there are; an engine may read a small collection otherwise.
 */
export interface Explanation {
  /** The indexes that find the documents, or return them in order, each once. */
  readonly indexes: readonly ServingIndex[];
  /**
   * Whether no index narrows what is read: the query then costs more with each document that is
   * added, also with those that it does not return.
   */
  readonly scans: boolean;
  /** Whether all documents found are sorted, where an index could return them in order. */
  readonly sorts: boolean;
  /** Causes of a cost that grows with the collection, a line each, with the index to declare. */
  readonly warnings: readonly string[];
}
