import type { Row } from "../operation.ts";

/** How far a bounded plan came. */
export interface Extent {
  /** The row, in the order, at which it stopped looking for others. */
  readonly stoppedAt?: Row | undefined;
  /** Whether there may be more than were counted. */
  readonly isAtLeast?: boolean | undefined;
}

/** The rows of a page, and where reading stopped. */
export interface FoundRows extends Pick<Extent, "stoppedAt"> {
  readonly rows: readonly Row[];
}

/** The number of documents. */
export interface Counted extends Pick<Extent, "isAtLeast"> {
  readonly count: number;
}
