import { setTimeout as wait } from "node:timers/promises";
import type { ChangeRecord } from "../../api/changes.ts";
import { writePosition } from "../../changes/feed-position.ts";
import type { ChangeBatch } from "../../changes/follow-changes.ts";
import type { Row } from "../operation.ts";
import { type FeedQuery, startOfFeed, toRecord } from "../operations/feed.ts";
import { changesTable } from "../own-tables.ts";
import { runOperation } from "./connections/run-operation.ts";
import type { Session } from "./connections/session.ts";
import { PostgresWriter } from "./statements/dialect.ts";

const windowSize = 1000;
const firstGapPause = 5;
const maxGapPause = 100;
/** How long one reading waits for a gap to close, in milliseconds; the next one goes on waiting. */
const gapTimeout = 1000;

/** A position after which the next number is missing. */
interface Gap {
  readonly position: number;
  /** Transactions that may still commit the missing change; undefined while nobody has looked. */
  holders: ReadonlySet<string> | undefined;
}

/**
 * Reads the oldest changes after a position.
 *
 * A missing number is a change that is not committed yet, or one that never will be. A transaction
 * that draws a number has locked the table of changes before, and holds that lock until its end.
 * When all transactions that held it at the gap's discovery are over, a missing number stays
 * missing. Other transactions of the server hold nobody up.
 */
export async function readChangesPastGaps(
  session: Session,
  query: FeedQuery,
): Promise<ChangeBatch> {
  const deadline = performance.now() + gapTimeout;
  const changes: ChangeRecord[] = [];
  let gap: Gap | undefined;
  let pause = firstGapPause;
  let scanned = await start(session, query.after);
  let hasJumped = false;
  const end = async (isEnd: boolean): Promise<ChangeBatch> => {
    // Missing records may have been trimmed since the start was looked up.
    if (hasJumped) await start(session, query.after);
    return { changes, scanned: writePosition(scanned), isEnd };
  };
  for (;;) {
    const wanted = query.limit - changes.length;
    const { rows, isFull } = await readWindow(session, scanned, wanted, query.collections);
    for (const row of rows) {
      const position = Number(row[0]);
      if (position !== scanned + 1) {
        if (gap?.position !== scanned) gap = { position: scanned, holders: undefined };
        if (gap.holders?.size !== 0) break;
        hasJumped = true;
      }
      scanned = position;
      if (query.collections === undefined || query.collections.includes(String(row[1]))) {
        changes.push(toRecord(row));
        if (changes.length === query.limit) return end(false);
      }
    }
    if (gap?.position !== scanned) {
      if (!isFull) return end(true);
      continue;
    }
    // A reading that begins after the last holder is gone sees all that they committed.
    gap.holders = await remainingHolders(session, gap.holders);
    if (gap.holders.size === 0) continue;
    if (performance.now() > deadline) return end(false);
    await wait(pause);
    pause = Math.min(pause * 2, maxGapPause);
  }
}

/** Reads which transactions may still commit changes, of those that could at the last look. */
async function remainingHolders(
  session: Session,
  before: ReadonlySet<string> | undefined,
): Promise<ReadonlySet<string>> {
  const { rows } = await session.read({
    name: "fetchwork:recording",
    text:
      "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted " +
      "AND mode = 'RowExclusiveLock' AND relation = to_regclass($1) " +
      "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    values: [changesTable],
  });
  const holders = rows.map(([transaction]) => String(transaction));
  return new Set(before === undefined ? holders : holders.filter((each) => before.has(each)));
}

function start(session: Session, after: string | undefined): Promise<number> {
  return runOperation(
    session,
    startOfFeed(() => new PostgresWriter(), after),
  );
}

/** Reads some records, also of other collections, and only the documents that are wanted. */
async function readWindow(
  session: Session,
  after: number,
  wanted: number,
  collections: readonly string[] | undefined,
): Promise<{ readonly rows: readonly Row[]; readonly isFull: boolean }> {
  const size = collections === undefined ? Math.min(wanted, windowSize) : windowSize;
  const { rows } = await session.read({
    name: "fetchwork:changes",
    text:
      "SELECT position, collection, id, kind, version, at, " +
      `CASE WHEN asked AND number <= $3::bigint THEN doc END FROM (` +
      "SELECT *, count(*) FILTER (WHERE asked) OVER (ORDER BY position) AS number FROM (" +
      "SELECT *, $4::text[] IS NULL OR collection = ANY($4::text[]) AS asked " +
      `FROM ${changesTable} WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint` +
      ") AS seen) AS numbered ORDER BY position",
    values: [after, size, wanted, collections ?? null],
  });
  return { rows, isFull: rows.length === size };
}
