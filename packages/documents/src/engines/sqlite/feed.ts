import type { ChangeRecord } from "../../api/changes.ts";
import { DocumentsError } from "../../api/errors.ts";
import { isChangeKind, parsePosition, writePosition } from "../../changes/feed-position.ts";
import type { ChangeBatch } from "../../changes/follow-changes.ts";
import { parseJsonText } from "../../document/json-text.ts";
import type { Connection, Row } from "./connection.ts";
import { CHANGES, POSITIONS } from "./layout.ts";
import { DamagedError } from "./sqlite-error.ts";

/** The name under which the position is kept up to which the feed was trimmed. */
const TRIMMED = "";

/** Reads the oldest changes behind a position. */
export function readChanges(
  connection: Connection,
  query: {
    readonly after: string | undefined;
    readonly collections: readonly string[] | undefined;
    readonly limit: number;
  },
): ChangeBatch {
  const after = query.after === undefined ? 0 : parsePosition(query.after);
  // Another process may write between the statements: what is newer than the end that is read first
  // may be among the rows, and what is trimmed before the one that is read last is missing there.
  const newest = connection.get(`SELECT max(position) FROM ${CHANGES}`, [])?.[0];
  const { collections, limit } = query;
  const only =
    collections === undefined ? "" : " AND collection IN (SELECT value FROM json_each(?))";
  const rows = connection.all(
    `SELECT position, collection, id, kind, version, at, doc FROM ${CHANGES} ` +
      `WHERE position > ?${only} ORDER BY position LIMIT ?`,
    [after, ...(collections === undefined ? [] : [JSON.stringify(collections)]), limit],
  );
  const trimmed = Number(
    connection.get(`SELECT position FROM ${POSITIONS} WHERE name = ?`, [TRIMMED])?.[0] ?? 0,
  );
  if (query.after !== undefined && after < trimmed) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_POSITION",
      "The feed was trimmed behind this position, so changes are missing",
    );
  }
  const changes = rows.map(toRecord);
  const last = Number(rows.at(-1)?.[0] ?? 0);
  const scanned = rows.length === limit ? last : Math.max(last, Number(newest ?? 0));
  return { changes, scanned: writePosition(Math.max(scanned, after)) };
}

/** Reads the position of a consumer. */
export function loadPosition(connection: Connection, name: string): string | undefined {
  const position = connection.get(`SELECT position FROM ${POSITIONS} WHERE name = ?`, [name])?.[0];
  return position === undefined ? undefined : writePosition(Number(position));
}

/** Keeps the position of a consumer, unless a later one is kept. */
export function savePosition(connection: Connection, name: string, position: string): void {
  connection.run(
    `INSERT INTO ${POSITIONS} (name, position) VALUES (?, ?) ` +
      "ON CONFLICT DO UPDATE SET position = max(position, excluded.position)",
    [name, parsePosition(position)],
  );
}

/** Removes records of changes before a time. */
export function trimChanges(connection: Connection, before: string): number {
  // Clocks go back: what is removed is everything before the first record that stays.
  const first = connection.get(`SELECT min(position) FROM ${CHANGES} WHERE at >= ?`, [before])?.[0];
  const last = connection.get(`SELECT max(position) FROM ${CHANGES}`, [])?.[0];
  const end = typeof first === "number" ? first - 1 : Number(last ?? 0);
  const removed = connection.run(`DELETE FROM ${CHANGES} WHERE position <= ?`, [end]);
  if (removed > 0) savePosition(connection, TRIMMED, writePosition(end));
  return removed;
}

function toRecord(row: Row): ChangeRecord {
  const [position, collection, id, kind, version, at, doc] = row;
  if (!isChangeKind(kind)) throw new DamagedError(String(collection), String(id));
  const meta = { id: String(id), version: Number(version) };
  return {
    position: writePosition(Number(position)),
    collection: String(collection),
    ...meta,
    kind,
    at: String(at),
    document: typeof doc === "string" ? parseJsonText(doc) : undefined,
  };
}
