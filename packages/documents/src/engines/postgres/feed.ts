import { setTimeout as wait } from "node:timers/promises";
import type { ChangeRecord } from "../../api/changes.ts";
import { DocumentsError } from "../../api/errors.ts";
import { isChangeKind, parsePosition, writePosition } from "../../changes/feed-position.ts";
import type { ChangeBatch } from "../../changes/follow-changes.ts";
import { parseJsonText } from "../../document/json-text.ts";
import { CHANGES, POSITIONS } from "./own-tables.ts";
import type { Row } from "./row-query.ts";
import type { Session } from "./session.ts";

/** The name under which the position is kept up to which the feed was trimmed. */
const TRIMMED = "";
const WINDOW = 1000;
/** The oldest transaction that is running, and the next one. */
const RUNNING =
  ", pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot())";
const GAP_PAUSE = 5;
/** How long one reading waits for a gap to close; the next one goes on waiting. */
const GAP_PATIENCE = 1000;

/** What is asked of the feed. */
export interface FeedQuery {
  readonly after: string | undefined;
  readonly collections: readonly string[] | undefined;
  readonly limit: number;
}

/**
 * Reads the oldest changes behind a position.
 *
 * A missing number is a change that is not committed yet, or one that never will be. Whoever drew
 * it had begun to change the database before the next number was drawn. So once every transaction
 * is over that was running when the gap was seen, what is still missing stays missing. In a
 * distributed store positions are in the order of the commits, so nothing comes later.
 */
export async function readChanges(
  session: Session,
  query: FeedQuery,
  { isDistributed }: { readonly isDistributed: boolean },
): Promise<ChangeBatch> {
  const deadline = performance.now() + GAP_PATIENCE;
  const changes: ChangeRecord[] = [];
  let gap: { readonly position: number; readonly end: bigint } | undefined;
  let scanned = await startOf(session, query.after);
  let hasJumped = false;
  const end = async (): Promise<ChangeBatch> => {
    // What is missing may have been trimmed since the start was looked up.
    if (hasJumped) await startOf(session, query.after);
    return { changes, scanned: writePosition(scanned) };
  };
  for (;;) {
    const { rows, isFull } = await readWindow(session, {
      after: scanned,
      wanted: query.limit - changes.length,
      collections: query.collections,
      more: isDistributed ? "" : RUNNING,
    });
    for (const row of rows) {
      const position = Number(row[0]);
      if (position !== scanned + 1 && !isDistributed) {
        const isDead = gap?.position === scanned && BigInt(row[7] ?? 0) >= gap.end;
        if (gap?.position !== scanned) gap = { position: scanned, end: BigInt(row[8] ?? 0) };
        if (!isDead) break;
      }
      hasJumped ||= position !== scanned + 1;
      scanned = position;
      if (query.collections === undefined || query.collections.includes(row[1] ?? "")) {
        changes.push(toRecord(row));
        if (changes.length === query.limit) return end();
      }
    }
    const isAtGap = gap !== undefined && gap.position === scanned;
    const isAtEnd = !isAtGap && !isFull;
    if (isAtEnd || (isAtGap && performance.now() > deadline)) {
      return end();
    }
    if (isAtGap) await wait(GAP_PAUSE);
  }
}

/** Reads some records, also those of other collections, and the documents of the wanted ones only. */
async function readWindow(
  session: Session,
  {
    after,
    wanted,
    collections,
    more,
  }: {
    readonly after: number;
    readonly wanted: number;
    readonly collections: readonly string[] | undefined;
    readonly more: string;
  },
): Promise<{ readonly rows: readonly Row[]; readonly isFull: boolean }> {
  const window = collections === undefined ? Math.min(wanted, WINDOW) : WINDOW;
  const { rows } = await session.read({
    name: "fetchwork:changes",
    text:
      "SELECT position, collection, id, kind, version, at, " +
      `CASE WHEN asked AND number <= $3::bigint THEN doc END${more} FROM (` +
      "SELECT *, count(*) FILTER (WHERE asked) OVER (ORDER BY position) AS number FROM (" +
      "SELECT *, $4::text[] IS NULL OR collection = ANY($4::text[]) AS asked " +
      `FROM ${CHANGES} WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint` +
      ") AS seen) AS numbered ORDER BY position",
    values: [String(after), String(window), String(wanted), collections ?? null],
  });
  return { rows, isFull: rows.length === window };
}

/** @throws {DocumentsError} `ERR_DOCUMENTS_POSITION` when changes behind the position were trimmed. */
async function startOf(session: Session, after: string | undefined): Promise<number> {
  const trimmed = await trimmedPosition(session);
  const given = after === undefined ? trimmed : parsePosition(after);
  if (given >= trimmed) return given;
  throw new DocumentsError(
    "ERR_DOCUMENTS_POSITION",
    "The feed was trimmed behind this position, so changes are missing",
  );
}

async function trimmedPosition(session: Session): Promise<number> {
  return Number((await storedPosition(session, TRIMMED)) ?? 0);
}

/** Reads the position of a consumer. */
export async function loadPosition(session: Session, name: string): Promise<string | undefined> {
  const position = await storedPosition(session, name);
  return position === undefined ? undefined : writePosition(Number(position));
}

async function storedPosition(session: Session, name: string): Promise<string | undefined> {
  const { rows } = await session.read({
    text: `SELECT position FROM ${POSITIONS} WHERE name = $1`,
    values: [name],
  });
  return rows[0]?.[0] ?? undefined;
}

/** Keeps the position of a consumer, unless a later one is kept. */
export async function savePosition(
  session: Session,
  name: string,
  position: string,
): Promise<void> {
  await session.write({
    text:
      `INSERT INTO ${POSITIONS} AS kept (name, position) VALUES ($1, $2) ON CONFLICT (name) ` +
      "DO UPDATE SET position = greatest(kept.position, excluded.position)",
    values: [name, String(parsePosition(position))],
  });
}

/** Removes records of changes before a time. */
export async function trimChanges(session: Session, before: string): Promise<number> {
  // Clocks differ: what is removed is everything before the first record that stays.
  const { rows } = await session.write({
    text:
      "WITH bound AS (SELECT coalesce(" +
      `(SELECT min(position) - 1 FROM ${CHANGES} WHERE at >= $1), ` +
      `(SELECT max(position) FROM ${CHANGES})) AS position), ` +
      `removed AS (DELETE FROM ${CHANGES} WHERE position <= (SELECT position FROM bound) RETURNING 1), ` +
      `kept AS (INSERT INTO ${POSITIONS} AS kept (name, position) ` +
      "SELECT $2, position FROM bound WHERE EXISTS (SELECT FROM removed) ON CONFLICT (name) " +
      "DO UPDATE SET position = greatest(kept.position, excluded.position)) " +
      "SELECT count(*) FROM removed",
    values: [before, TRIMMED],
  });
  return Number(rows[0]?.[0]);
}

function toRecord(row: Row): ChangeRecord {
  const [position, collection, id, kind, version, at, doc] = row;
  if (!isChangeKind(kind)) throw new DocumentsError("ERR_DOCUMENTS_ENGINE", "A change is damaged");
  return {
    position: writePosition(Number(position)),
    collection: String(collection),
    id: String(id),
    version: Number(version),
    kind,
    at: String(at),
    document: typeof doc === "string" ? parseJsonText(doc) : undefined,
  };
}
