import type { Stored } from "./document.ts";
import type { FindQuery } from "./find-query.ts";

/** Selects documents to work on. */
export interface ClaimQuery<T> extends Pick<FindQuery<T>, "q" | "sort" | "where"> {
  /** The greatest number of documents to claim, 1 to 1,000. Default: 1. */
  readonly limit?: number | undefined;
  /**
   * The time after which somebody else may claim a document that was neither released nor renewed,
   * in milliseconds from 1 to a day. Default: `60_000`.
   */
  readonly expiry?: number | undefined;
}

/** The right to work on a document for a time. */
export interface Lease<T> {
  /** The document when it was claimed. */
  readonly document: Stored<T>;
  /** Proves the right; nobody else knows it. */
  readonly token: string;
  /** The end of the right, ISO 8601. */
  readonly until: string;
  /** How many times the document has been claimed since a lease of it was last released. */
  readonly attempt: number;
}

/**
 * Leases of documents, for work in the background that any number of processes share.
 *
 * A lease does not keep anybody from changing the document. `lease` among the options of a change
 * does the opposite: the change is made only while the lease is held.
 */
export interface Leasing<T> {
  /**
   * Claims documents that nobody holds a lease of. Of any number of processes that claim at the
   * same time each gets other documents.
   */
  claim(query?: ClaimQuery<T>): Promise<readonly Lease<T>[]>;

  /** Extends a lease by `expiry` milliseconds from now; resolves to whether it was still held. */
  renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean>;

  /** Gives a lease up; resolves to whether it was still held. */
  release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean>;
}
