import { toStored } from "../../../document/stored.ts";
import { parseSearch } from "../../derived.ts";
import { quoteName } from "../../dialect.ts";
import type { Row } from "../../operation.ts";
import { changesTable, generationsTable, positionsTable } from "../../own-tables.ts";
import type { Connection } from "../connection/connection.ts";
import { chunkSize, rowsOf } from "../connection/rows-of.ts";
import { changeChecksum, checkedColumns, isIntact } from "../statements/checksums.ts";
import { quoteText } from "../statements/json.ts";
import { compareMembers, fieldOfMembers, membersTable } from "../statements/members.ts";
import { searchTableOf } from "../statements/search-texts.ts";

/** A task that reads the whole file, and is done away from the thread that serves. */
export type MaintenanceTask =
  { readonly kind: "backup"; readonly to: string } | { readonly kind: "check" };

const maxProblems = 100;

/** Does a task; returns what is wrong with the file. */
export function maintain(connection: Connection, task: MaintenanceTask): readonly string[] {
  // What one moment left, since others go on to write.
  if (task.kind === "check") return connection.atOneMoment(() => check(connection));
  connection.run("VACUUM INTO ?", [task.to]);
  return [];
}

function check(connection: Connection): readonly string[] {
  const problems: string[] = [];
  const values = (sql: string): readonly unknown[] => connection.all(sql, []).flat();
  for (const line of values(`PRAGMA integrity_check(${maxProblems})`)) {
    if (line !== "ok") problems.push(String(line));
  }
  if (problems.length > 0) return problems;
  for (const name of values('SELECT name FROM "fetchwork:collections" ORDER BY name')) {
    problems.push(...checkCollection(connection, String(name), values));
  }
  problems.push(...checkChanges(connection));
  return problems.slice(0, maxProblems);
}

function checkCollection(
  connection: Connection,
  name: string,
  values: (sql: string) => readonly unknown[],
): readonly string[] {
  const table = quoteName(name);
  const problems: string[] = [];
  const damaged = values(
    `SELECT id FROM ${table} WHERE NOT json_valid(doc) OR json_type(doc) <> 'object' ` +
      `LIMIT ${maxProblems}`,
  );
  for (const id of damaged) problems.push(damagedDocument(name, id));
  const columns = values(`SELECT name FROM pragma_table_info(${quoteText(name)})`);
  const hasRemoved = columns.includes("deleted_at");
  if (damaged.length === 0) problems.push(...checkSums(connection, name, { hasRemoved }));
  const live = hasRemoved ? " WHERE deleted_at IS NULL" : "";
  const [counted] = values(`SELECT count(*) FROM ${table}${live}`);
  const [kept] = values(
    `SELECT documents FROM "fetchwork:collections" WHERE name = ${quoteText(name)}`,
  );
  if (counted !== kept) {
    problems.push(`"${name}" has ${String(counted)} documents, and counted ${String(kept)}`);
  }
  const generations = connection.all(
    `SELECT derived, suffix, done, goal FROM ${generationsTable} WHERE collection = ?`,
    [name],
  );
  for (const row of generations) problems.push(...checkSearch(connection, name, row));
  if (damaged.length === 0) problems.push(...checkMembers(connection, name));
  return problems;
}

/** Compares documents with their checksums. */
function checkSums(
  connection: Connection,
  name: string,
  columns: { readonly hasRemoved: boolean },
): readonly string[] {
  const problems: string[] = [];
  const text =
    `SELECT ${checkedColumns(columns)}, seq FROM ${quoteName(name)} WHERE seq > ? ` +
    `ORDER BY seq LIMIT ${chunkSize}`;
  for (const row of rowsOf(connection, text, 7)) {
    if (!isIntact(row)) problems.push(damagedDocument(name, row[0]));
    if (problems.length >= maxProblems) break;
  }
  return problems;
}

/** Compares feed records with their checksums, and positions, which have no gaps. */
function checkChanges(connection: Connection): readonly string[] {
  const problems: string[] = [];
  const numberOf = (sql: string): number => Number(connection.get(sql, [])?.[0] ?? 0);
  const trimmed = numberOf(`SELECT position FROM ${positionsTable} WHERE name = ''`);
  const text =
    "SELECT position, collection, id, kind, version, at, doc, checksum " +
    `FROM ${changesTable} WHERE position > ? ORDER BY position LIMIT ${chunkSize}`;
  let last = trimmed;
  let hasGap = false;
  for (const row of rowsOf(connection, text, 0)) {
    const [position, collection, id, kind, version, at, doc, checksum] = row;
    hasGap ||= Number(position) !== last + 1;
    last = Number(position);
    const json = doc === null ? null : String(doc);
    const change = {
      collection: String(collection),
      id: String(id),
      kind: String(kind),
      version: Number(version),
      at: String(at),
    };
    const isRight = changeChecksum(change, json) === checksum;
    if (!isRight) problems.push(`the change ${last} of the feed is damaged`);
    if (problems.length >= maxProblems) return problems;
  }
  const newest = numberOf("SELECT seq FROM sqlite_sequence WHERE name = 'fetchwork:changes'");
  if (hasGap || last !== newest) problems.push("positions of the change feed are missing");
  return problems;
}

function damagedDocument(name: string, id: unknown): string {
  return `the document ${JSON.stringify(id)} of "${name}" is damaged`;
}

/** Compares a generation's search texts with the documents, except unbuilt ones. */
function checkSearch(
  connection: Connection,
  name: string,
  [derived, suffix, done, goal]: Row,
): readonly string[] {
  const { textOf } = parseSearch(String(derived));
  const table = quoteName(searchTableOf(name, String(suffix)));
  const problems: string[] = [];
  let missing = 0;
  const text =
    "SELECT id, version, created_at, updated_at, doc, NULL, stored.seq, found.text " +
    `FROM ${quoteName(name)} AS stored LEFT JOIN ${table} AS found ON found.rowid = stored.seq ` +
    "WHERE stored.seq > ? AND (stored.seq <= ? OR stored.seq > ?) " +
    `ORDER BY stored.seq LIMIT ${chunkSize}`;
  for (const row of rowsOf(connection, text, 6, [done ?? null, goal ?? null])) {
    if (row[7] === null) missing += 1;
    else if (!isSearchedAs(name, row, textOf)) {
      problems.push(
        `the search text of ${JSON.stringify(row[0])} of "${name}" does not match the document`,
      );
    }
    if (problems.length >= maxProblems) break;
  }
  if (missing > 0) problems.push(`the search of "${name}" lacks ${missing} documents`);
  return problems;
}

/** Compares the tables of members with the documents. */
function checkMembers(connection: Connection, name: string): readonly string[] {
  const tables = connection.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%:members:%'",
    [],
  );
  return tables.flatMap(([table]) => {
    const field = fieldOfMembers(name, String(table));
    if (field === undefined) return [];
    const { stored, expected } = compareMembers(quoteName(name), membersTable(name, field));
    const isWrong = [`${stored} EXCEPT ${expected}`, `${expected} EXCEPT ${stored}`].some(
      (text) => connection.get(`${text} LIMIT 1`, []) !== undefined,
    );
    const which = JSON.stringify(field);
    return isWrong ? [`the index of members of ${which} of "${name}" is damaged`] : [];
  });
}

function isSearchedAs(name: string, row: Row, textOf: (stored: unknown) => string): boolean {
  try {
    return row[7] === textOf(toStored(name, row));
  } catch {
    // A damaged document is reported as such.
    return true;
  }
}
