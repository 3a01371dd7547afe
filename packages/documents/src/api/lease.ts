import type { Stored } from "./document.ts";
import type { FindQuery } from "./find-query.ts";

/** Selects documents to work on. */
export interface ClaimQuery<T> extends Pick<FindQuery<T>, "q" | "sort" | "where"> {
  /** The maximum number of documents to claim, 1 to 1,000. Default: 1. */
  readonly limit?: number | undefined;
  /**
   * The time after which another process may claim a document that was neither released nor
   * renewed. In milliseconds, from 1 to a day. Default: `60_000`.
   */
  readonly expiry?: number | undefined;
}

/** The right to work on a document for a time. */
export interface Lease<T> {
  /** The document when it was claimed. */
  readonly document: Stored<T>;
  /** Proves the right. Keep it secret. */
  readonly token: string;
  /** The end of the right, ISO 8601. */
  readonly until: string;
  /** How many times the document has been claimed since a lease of it was last released. */
  readonly attempt: number;
}
