/** Kinds of changes of a document. */
export type ChangeKind = "insert" | "purge" | "remove" | "restore" | "update";

/** One change of a document, as a record of the feed. */
export interface ChangeRecord {
  /** The place in the feed, to go on from. Opaque, and in the order of the feed as a string. */
  readonly position: string;
  /** The collection's name. */
  readonly collection: string;
  /** The document's id. */
  readonly id: string;
  /**
   * Kind of the change. `remove` of a collection without soft deletion, of an expired document, and
   * `purge`, leave nothing behind.
   */
  readonly kind: ChangeKind;
  /** The document's version after the change; before it when nothing was left behind. */
  readonly version: number;
  /** The time of the change, ISO 8601. */
  readonly at: string;
  /**
   * The document after the change, in collections defined with `changes: "documents"`; `undefined`
   * when nothing was left behind.
   */
  readonly document: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `changes`. */
export interface ChangesOptions {
  /**
   * The position of the last change that was processed; the feed starts after it. Default: the
   * oldest change that is kept.
   */
  readonly after?: string | undefined;
  /** The names of the collections to read. Default: all that are defined with `changes`. */
  readonly collections?: readonly string[] | undefined;
  /** Whether to wait for further changes at the end, or to end. Default: `"wait"`. */
  readonly atEnd?: "end" | "wait" | undefined;
  /** Ends the feed. Default: it ends with the loop that reads it, and with the store. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How often to look for changes of other processes, in milliseconds from 10. Changes of this
   * process are seen at once. Default: `250`.
   */
  readonly pollInterval?: number | undefined;
}

/** Options of `consume`. */
export interface ConsumeOptions extends Omit<ChangesOptions, "after"> {
  /** The maximum number of changes in one call of the handler, 1 to 1,000. Default: 100. */
  readonly batch?: number | undefined;
  /**
   * The time after which another process takes over from one that stopped, in milliseconds from
   * 1,000. Default: `30_000`.
   */
  readonly lease?: number | undefined;
}
