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
/** The oldest transaction that is running, and the next one. */
const running =
  ", pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot())";
const gapPause = 5;
/** How long one reading waits for a gap to close, in milliseconds; the next one goes on waiting. */
const gapTimeout = 1000;

/**
 * Reads the oldest changes after a position.
 *
 * A missing number is a change that is not committed yet, or one that never will be. Whoever drew it had begun to change
 * the database before the next number was drawn. So once every transaction is over that was running when the gap was
 * seen, what is still missing stays missing.
 */
export async function readChangesPastGaps(
  session: Session,
  query: FeedQuery,
): Promise<ChangeBatch> {
  const deadline = performance.now() + gapTimeout;
  const changes: ChangeRecord[] = [];
  let gap: { readonly position: number; readonly end: bigint } | undefined;
  let scanned = await start(session, query.after);
  let hasJumped = false;
  const end = async (): Promise<ChangeBatch> => {
    // What is missing may have been trimmed since the start was looked up.
    if (hasJumped) await start(session, query.after);
    return { changes, scanned: writePosition(scanned) };
  };
  for (;;) {
    const wanted = query.limit - changes.length;
    const { rows, isFull } = await readWindow(session, scanned, wanted, query.collections);
    for (const row of rows) {
      const position = Number(row[0]);
      if (position !== scanned + 1) {
        const isDead = gap?.position === scanned && BigInt(row[7] ?? 0) >= gap.end;
        if (gap?.position !== scanned) gap = { position: scanned, end: BigInt(row[8] ?? 0) };
        if (!isDead) break;
      }
      hasJumped ||= position !== scanned + 1;
      scanned = position;
      if (query.collections === undefined || query.collections.includes(String(row[1]))) {
        changes.push(toRecord(row));
        if (changes.length === query.limit) return end();
      }
    }
    const isAtGap = gap !== undefined && gap.position === scanned;
    const isAtEnd = !isAtGap && !isFull;
    if (isAtEnd || (isAtGap && performance.now() > deadline)) return end();
    if (isAtGap) await wait(gapPause);
  }
}

function start(session: Session, after: string | undefined): Promise<number> {
  return runOperation(
    session,
    startOfFeed(() => new PostgresWriter(), after),
  );
}

/** Reads some records, also those of other collections, and the documents of the wanted ones only. */
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
      `CASE WHEN asked AND number <= $3::bigint THEN doc END${running} FROM (` +
      "SELECT *, count(*) FILTER (WHERE asked) OVER (ORDER BY position) AS number FROM (" +
      "SELECT *, $4::text[] IS NULL OR collection = ANY($4::text[]) AS asked " +
      `FROM ${changesTable} WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint` +
      ") AS seen) AS numbered ORDER BY position",
    values: [after, size, wanted, collections ?? null],
  });
  return { rows, isFull: rows.length === size };
}
