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

/**
 * Leases of documents, for background work that any number of processes share.
 *
 * A lease does not prevent others from changing the document. With the option `lease`, a change is
 * made only while that lease is held.
 */
export interface Leasing<T> {
  /**
   * Claims documents that are not leased. Processes that claim at the same time get different
   * documents.
   */
  claim(query?: ClaimQuery<T>): Promise<readonly Lease<T>[]>;

  /** Extends a lease by `expiry` milliseconds from now; resolves to whether it was still held. */
  renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean>;

  /** Releases a lease; resolves to whether it was still held. */
  release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean>;
}
