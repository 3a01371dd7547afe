import type { AggregateQuery, FacetsQuery } from "./reading/aggregate.ts";
import type { CountQuery, FindQuery } from "./find-query.ts";
import type { PageQuery } from "./page.ts";

/** A query of `find`, `page`, `count`, `aggregate` or `facets`. */
export type ExplainedQuery<T> =
  AggregateQuery<T> | CountQuery<T> | FacetsQuery<T> | FindQuery<T> | PageQuery<T>;

/** Options of `explain`. */
export interface ExplainOptions {
  /** The method that runs the query; `"facets"` of one field is `distinct` of it. Default: `"find"`. */
  readonly method?: "aggregate" | "count" | "facets" | "find" | "page" | undefined;
}

/** An index that serves a query. */
export interface ServingIndex {
  /**
   * The option of the definition that declares it; `createdAt` has an `"index"` and `id` a `"unique"`
   * one without being declared. `"other"` is an index that the definition does not name.
   */
  readonly kind: "collate" | "geo" | "index" | "other" | "search" | "unique";
  /** The fields of the index, in order; none for `"other"`. */
  readonly fields: readonly string[];
}

/** A query that no index serves. */
export interface UnindexedQuery extends Explanation {
  /** The name of the collection. */
  readonly collection: string;
}

/** How the engine finds the documents of a query. */
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
  /** What makes the query slow as the collection grows, a line each, with what to declare. */
  readonly warnings: readonly string[];
  /** The plan of each statement in the words of the engine. It may contain values of the query. */
  readonly plan: string;
}
