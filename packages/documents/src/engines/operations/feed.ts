import type { ChangeRecord } from "../../api/changes.ts";
import { DocumentsError } from "../../api/errors.ts";
import { isChangeKind, parsePosition, writePosition } from "../../changes/feed-position.ts";
import type { ChangeBatch, ChangeSource } from "../../changes/follow-changes.ts";
import { DamagedError } from "../../document/damaged-error.ts";
import { parseFields } from "../../document/stored.ts";
import type { Begin } from "../dialect.ts";
import type { Operation, Row } from "../operation.ts";
import { changesTable, positionsTable } from "../own-tables.ts";

/** Query of the change feed. */
export type FeedQuery = Parameters<ChangeSource["readChanges"]>[0];

/** The name under which the position is kept up to which the feed was trimmed. */
const trimmed = "";

/**
 * Returns the position after which to read.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_POSITION` when changes after `after` were trimmed.
 */
export function* startOfFeed(begin: Begin, after: string | undefined): Operation<number> {
  const start = (yield* storedPosition(begin, trimmed)) ?? 0;
  const position = after === undefined ? start : parsePosition(after);
  if (position >= start) return position;
  throw new DocumentsError(
    "ERR_DOCUMENTS_POSITION",
    "the feed was trimmed after this position, so changes are missing",
  );
}

/** Reads the oldest changes after a position, where positions are in the order of the commits. */
export function* readChanges(
  begin: Begin,
  { after, collections, limit }: FeedQuery,
): Operation<ChangeBatch> {
  const start = after === undefined ? 0 : parsePosition(after);
  // Another process may write between the statements: rows may be newer than the end, which is read
  // first. Rows that are trimmed before the start is read are missing.
  const newest = (yield begin().read(`SELECT max(position) FROM ${changesTable}`)).rows[0]?.[0];
  const sql = begin();
  const terms = [`position > ${sql.bind(start, "bigint")}`];
  if (collections !== undefined) terms.push(sql.isIn("collection", collections, "text"));
  const { rows } = yield sql.read(
    `SELECT ${recordColumns} FROM ${changesTable} WHERE ${terms.join(" AND ")} ` +
      `ORDER BY position LIMIT ${sql.bind(limit, "bigint")}`,
  );
  if (after !== undefined) yield* startOfFeed(begin, after);
  const last = Number(rows.at(-1)?.[0] ?? 0);
  const scanned = rows.length === limit ? last : Math.max(last, Number(newest ?? 0));
  return {
    changes: rows.map(toRecord),
    scanned: writePosition(Math.max(scanned, start)),
    isEnd: rows.length < limit,
  };
}

/** Reads the position of a consumer. */
export function* loadPosition(begin: Begin, name: string): Operation<string | undefined> {
  const position = yield* storedPosition(begin, name);
  return position === undefined ? undefined : writePosition(position);
}

function* storedPosition(begin: Begin, name: string): Operation<number | undefined> {
  const sql = begin();
  const { rows } = yield sql.read(
    `SELECT position FROM ${positionsTable} WHERE name = ${sql.bind(name, "text")}`,
  );
  const position = rows[0]?.[0];
  return position === undefined ? undefined : Number(position);
}

/** Stores the position of a consumer, unless a later one is stored. */
export function* savePosition(begin: Begin, name: string, position: string): Operation<void> {
  const sql = begin();
  yield sql.write(
    `INSERT INTO ${positionsTable} AS kept (name, position) VALUES (${sql.bind(name, "text")}, ` +
      `${sql.bind(parsePosition(position), "bigint")}) ON CONFLICT (name) ` +
      "DO UPDATE SET position = excluded.position WHERE kept.position < excluded.position",
  );
}

/** Removes older records of changes that every consumer has passed; returns their number. */
export function* trimChanges(begin: Begin, before: string): Operation<number> {
  // Clocks go back: what is removed is everything before the first record that stays.
  const reading = begin();
  const { rows } = yield reading.read(
    `SELECT coalesce((SELECT min(position) - 1 FROM ${changesTable} ` +
      `WHERE at >= ${reading.bind(before, "text")}), (SELECT max(position) FROM ${changesTable}))`,
  );
  const old = rows[0]?.[0] ?? null;
  if (old === null) return 0;
  const place = begin();
  const consumers = yield place.read(
    `SELECT min(position) FROM ${positionsTable} WHERE name <> ${place.bind(trimmed, "text")}`,
  );
  const behind = consumers.rows[0]?.[0] ?? null;
  const last = behind === null ? Number(old) : Math.min(Number(old), Number(behind));
  const sql = begin();
  const { count } = yield sql.write(
    `DELETE FROM ${changesTable} WHERE position <= ${sql.bind(last, "bigint")}`,
  );
  if (count > 0) yield* savePosition(begin, trimmed, writePosition(last));
  return count;
}

/** Columns of a record, of which {@link toRecord} makes it. */
export const recordColumns = "position, collection, id, kind, version, at, doc";

/** Makes the record of a row of {@link recordColumns}. */
export function toRecord(row: Row): ChangeRecord {
  const [position, collection, id, kind, version, at, doc] = row;
  if (!isChangeKind(kind)) throw new DamagedError(String(collection), String(id));
  return {
    position: writePosition(Number(position)),
    collection: String(collection),
    id: String(id),
    version: Number(version),
    kind,
    at: String(at),
    document:
      typeof doc === "string" ? parseFields(String(collection), String(id), doc) : undefined,
  };
}
