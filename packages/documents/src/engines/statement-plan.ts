import type { ServingIndex } from "../api/explanation.ts";

/** How a statement reads the documents of a collection, or a table or index that belongs to them. */
export interface TableAccess {
  /** The index that is read; undefined where it is the table itself. */
  readonly index: ServingIndex | undefined;
  /** Whether a condition narrows what is read of it. */
  readonly isSearched: boolean;
}

/** The plan of one statement. */
export interface StatementPlan {
  readonly accesses: readonly TableAccess[];
  /** Whether all rows that are found are sorted. */
  readonly sorts: boolean;
  /** Whether the engine plans otherwise for more documents, or other ones. */
  readonly isProvisional: boolean;
  /** The plan in the words of the engine. */
  readonly text: string;
}
