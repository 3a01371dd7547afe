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

/**
 * The feed of what changed in the collections defined with `changes`. Each record is written in the
 * transaction of its change. So none is missing and none is of a change that was undone. In every
 * process, the records of a document are in the order of its versions, and no record is skipped.
 * Records of different documents are in the order of the commits on SQLite; on PostgreSQL those of
 * overlapping transactions may be in the order of the changes.
 */
export interface ChangeFeed {
  /**
   * Reads the changes, the oldest first.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_POSITION` when records after `after` were trimmed, so
   *   that the caller must read the collections again.
   * @throws {InputError} `ERR_DOCUMENTS_QUERY` for an invalid position.
   * @example
   * ```ts
   * for await (const change of store.changes({ after: await load() })) {
   *   await index(change);
   *   await save(change.position);
   * }
   * ```
   */
  changes(options?: ChangesOptions): AsyncIterable<ChangeRecord>;

  /**
   * Passes the changes to a handler and keeps its position in the store under a name: an outbox.
   *
   * Any number of processes may consume under one name. One of them does at a time, and another one
   * continues when it ends or no longer responds. A batch whose handler rejected, or whose process
   * died, is passed to a handler again. So a handler must accept changes that it has seen before.
   * Resolves when `signal` aborts, or with `atEnd: "end"` at the end of the feed; rejects with what
   * the handler rejects with; the position is then that before the batch.
   */
  consume(
    name: string,
    handler: (changes: readonly ChangeRecord[]) => Promise<void> | void,
    options?: ConsumeOptions,
  ): Promise<void>;

  /**
   * Removes records of changes made before a time, ISO 8601 in UTC, that every consumer has passed;
   * resolves to their number. They are never removed otherwise. A consumer that is no longer needed
   * holds them until it is passed on to the end: `consume(name, () => {}, { atEnd: "end" })`.
   */
  trimChanges(selection: { readonly before: string }): Promise<number>;
}
