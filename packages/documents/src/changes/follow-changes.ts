import { pause } from "@fetchwork/kit";
import type { ChangeRecord, ChangesOptions } from "../api/changes.ts";
import { closedError, hasCode, optionError, queryError } from "../api/errors.ts";
import { checkOptions } from "../api/check-options.ts";

/** Access of an engine to the feed of changes. */
export interface ChangeSource {
  /** Aborts when the store closes. */
  readonly closed: AbortSignal;
  /**
   * Reads the oldest changes behind a position, and returns up to where it looked. That is further
   * when the last ones are of other collections.
   */
  readChanges(query: {
    readonly after: string | undefined;
    readonly collections: readonly string[] | undefined;
    readonly limit: number;
  }): Promise<ChangeBatch>;
  /** Calls the listener whenever this process may have written a change; returns what ends that. */
  onRecorded(listener: () => void): () => void;
}

/** Some changes, and the position up to which the feed was read for them. */
export interface ChangeBatch {
  readonly changes: readonly ChangeRecord[];
  readonly scanned: string | undefined;
  /** Whether nothing more was committed; else more exists or a transaction may still commit. */
  readonly isEnd: boolean;
}

const defaultPoll = 250;
const minPoll = 10;
const maxPoll = 86_400_000;
const readAhead = 100;

/**
 * Follows the feed change by change; see `Store.changes`.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` at once, for a wrong option.
 */
export function streamChanges(
  source: ChangeSource,
  options: ChangesOptions,
): AsyncGenerator<ChangeRecord, void, undefined> {
  checkOptions("changes", options, ["after", "collections", "atEnd", "signal", "pollInterval"]);
  return oneByOne(followChanges(source, options));
}

/**
 * Follows the feed by batches, each of at least one change.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` at once, for a wrong option.
 */
export function followChanges(
  source: ChangeSource,
  options: ChangesOptions & {
    readonly batch?: number | undefined;
    /** Called with the place that was read up to where it holds no change of the collections. */
    readonly onPassed?: ((position: string) => Promise<void>) | undefined;
  },
): AsyncGenerator<readonly ChangeRecord[], void, undefined> {
  if (source.closed.aborted) throw closedError();
  const { after, collections, atEnd = "wait", pollInterval = defaultPoll } = options;
  if (!(pollInterval >= minPoll && pollInterval <= maxPoll)) {
    throw optionError(
      `"pollInterval" must be a number of milliseconds from ${minPoll} to ${maxPoll}`,
    );
  }
  if (atEnd !== "end" && atEnd !== "wait") throw optionError('"atEnd" must be "end" or "wait"');
  const names: unknown = collections;
  const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (names !== undefined && !isList) {
    throw optionError('"collections" must be a list of names');
  }
  if (after !== undefined && typeof after !== "string") {
    throw queryError('"after" must be a position of the feed', "after");
  }
  return follow(source, { ...options, atEnd, pollInterval });
}

/**
 * Yields the changes of batches one by one.
 *
 * @yields Each change.
 */
async function* oneByOne(
  batches: AsyncIterable<readonly ChangeRecord[]>,
): AsyncGenerator<ChangeRecord, void, undefined> {
  for await (const batch of batches) yield* batch;
}

async function* follow(
  source: ChangeSource,
  options: ChangesOptions & {
    readonly atEnd: "end" | "wait";
    readonly batch?: number | undefined;
    readonly onPassed?: ((position: string) => Promise<void>) | undefined;
    readonly pollInterval: number;
  },
): AsyncGenerator<readonly ChangeRecord[], void, undefined> {
  const { collections, signal, batch: limit = readAhead } = options;
  // It also ends a wait that begins after it rang.
  let bell = new AbortController();
  const ring = (): void => bell.abort();
  const unsubscribe = source.onRecorded(ring);
  const ends = [source.closed, ...(signal === undefined ? [] : [signal])];
  for (const end of ends) end.addEventListener("abort", ring);
  let { after } = options;
  try {
    while (!ends.some((end) => end.aborted)) {
      bell = new AbortController();
      const { changes, scanned, isEnd } = await source.readChanges({ after, collections, limit });
      if (changes.length > 0) yield changes;
      else if (scanned !== undefined && scanned !== after) await options.onPassed?.(scanned);
      after = scanned ?? after;
      if (!isEnd) continue;
      if (options.atEnd === "end") return;
      await pause(options.pollInterval, bell.signal).catch(() => undefined);
    }
  } catch (error) {
    // The store was closed between two reads, which ends the feed.
    if (!(hasCode(error, "ERR_DOCUMENTS_CLOSED") && source.closed.aborted)) throw error;
  } finally {
    unsubscribe();
    for (const end of ends) end.removeEventListener("abort", ring);
  }
}
