import { quoteName } from "../../dialect.ts";
import { describeGeneration, hashOf, textOfRow, unusedTime } from "../../derived.ts";
import type { Row } from "../../operation.ts";
import { generationsTable } from "../../own-tables.ts";
import type { Connection } from "../connection/connection.ts";
import { quoteText } from "../statements/json.ts";
import type { SqliteLayout } from "../statements/layout.ts";
import { searchTableOf } from "../statements/search-texts.ts";

const chunk = 500;
/** Time for which opening a store may build, in milliseconds. */
const firstTime = 40;
/** Rows after which the clock is looked at. */
const rowsPerLook = 16;

/** Reads the generations of a collection: what is derived, and the ending of the names. */
export function readGenerations(connection: Connection, collection: string): readonly Row[] {
  return connection.all(
    `SELECT derived, suffix FROM ${generationsTable} WHERE collection = ? ORDER BY derived`,
    [collection],
  );
}

/**
 * Registers what this program searches and builds the first part, which is all of a small
 * collection.
 */
export function prepareSearch(connection: Connection, layout: SqliteLayout): void {
  const { name } = layout.definition;
  const { derived } = layout.search;
  const isKnown = layout.search.use(readGenerations(connection, name));
  if (derived !== null && !isKnown) {
    create(connection, layout, derived);
    layout.search.use(readGenerations(connection, name));
  }
  touchGeneration(connection, layout);
  buildSearch(connection, layout, firstTime);
}

/** Notes that a program uses a generation. */
export function touchGeneration(
  connection: Connection,
  { definition, search }: SqliteLayout,
): void {
  if (search.derived === null) return;
  connection.run(`UPDATE ${generationsTable} SET used = ? WHERE collection = ? AND derived = ?`, [
    Date.now(),
    definition.name,
    search.derived,
  ]);
}

/** Reads the endings of the names of generations that no program used for 7 days. */
function unusedGenerations(
  connection: Connection,
  { definition, search }: SqliteLayout,
): readonly string[] {
  const rows = connection.all(
    `SELECT suffix FROM ${generationsTable} WHERE collection = ? AND derived <> ? AND used <= ?`,
    [definition.name, search.derived ?? "", Date.now() - unusedTime],
  );
  return rows.map(([suffix]) => String(suffix));
}

/** Whether search texts of this program are missing, or there are some that nobody uses. */
export function hasSearchWork(connection: Connection, layout: SqliteLayout): boolean {
  return (
    missingTexts(connection, layout) !== undefined ||
    unusedGenerations(connection, layout).length > 0
  );
}

/** Does a part of what {@link hasSearchWork} reports; returns whether there is more. */
export function workOnSearch(connection: Connection, layout: SqliteLayout, time: number): boolean {
  if (!buildSearch(connection, layout, time)) {
    const [suffix] = unusedGenerations(connection, layout);
    if (suffix !== undefined) dropGeneration(connection, layout.definition.name, suffix);
  }
  return hasSearchWork(connection, layout);
}

/** Drops the texts of all generations besides that of this program. */
export function dropOtherGenerations(
  connection: Connection,
  { definition, search }: SqliteLayout,
): void {
  for (const [derived, suffix] of readGenerations(connection, definition.name)) {
    if (derived !== search.derived) dropGeneration(connection, definition.name, String(suffix));
  }
  search.use(readGenerations(connection, definition.name));
}

/** Drops the texts of a generation. */
export function dropGeneration(connection: Connection, collection: string, suffix: string): void {
  connection.exec(`DROP TABLE IF EXISTS ${quoteName(searchTableOf(collection, suffix))}`);
  connection.run(`DELETE FROM ${generationsTable} WHERE collection = ? AND suffix = ?`, [
    collection,
    suffix,
  ]);
}

/** Reads which rows this program's table of texts lacks; undefined where it has all. */
function missingTexts(
  connection: Connection,
  { definition, search }: SqliteLayout,
): { readonly suffix: string; readonly done: number; readonly goal: number } | undefined {
  const row = connection.get(
    `SELECT suffix, done, goal FROM ${generationsTable} ` +
      "WHERE collection = ? AND derived = ? AND done < goal",
    [definition.name, search.derived],
  );
  if (row === undefined) return undefined;
  const [suffix, done, goal] = row;
  return { suffix: String(suffix), done: Number(done), goal: Number(goal) };
}

/**
 * Derives missing texts, at least one and at most some hundred, for about `time` milliseconds.
 * Returns whether any were missing.
 */
function buildSearch(connection: Connection, layout: SqliteLayout, time: number): boolean {
  const { definition, quoted, search } = layout;
  const missing = missingTexts(connection, layout);
  if (missing === undefined) return false;
  const { suffix, done, goal } = missing;
  const until = performance.now() + time;
  const rows = connection.all(
    `SELECT id, version, created_at, updated_at, doc, NULL, seq FROM ${quoted} ` +
      `WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${chunk}`,
    [done, goal],
  );
  const generation = describeGeneration(search.derived ?? "", suffix);
  // A number of a row is given again when the last rows were removed, and so may be there.
  const write = `INSERT OR REPLACE INTO ${quoteName(searchTableOf(definition.name, suffix))} (rowid, text) VALUES (?, ?)`;
  let count = 0;
  for (const row of rows) {
    const text = textOfRow(definition.name, row, generation);
    if (text !== undefined) connection.run(write, [Number(row[6]), text]);
    count += 1;
    if (count % rowsPerLook === 0 && performance.now() >= until) break;
  }
  const isEnd = count === rows.length && rows.length < chunk;
  connection.run(`UPDATE ${generationsTable} SET done = ? WHERE collection = ? AND suffix = ?`, [
    isEnd ? goal : Number(rows[count - 1]?.[6]),
    definition.name,
    suffix,
  ]);
  return true;
}

function create(connection: Connection, layout: SqliteLayout, derived: string): void {
  const { definition, quoted } = layout;
  const rows = readGenerations(connection, definition.name);
  const suffix = rows.some(([, known]) => known === "") ? hashOf(derived) : "";
  const table = quoteName(searchTableOf(definition.name, suffix));
  connection.exec(
    `DROP TABLE IF EXISTS ${table}; CREATE VIRTUAL TABLE ${table} USING fts5(` +
      `text, tokenize = ${quoteText("trigram case_sensitive 1")})`,
  );
  connection.run(
    `INSERT INTO ${generationsTable} (collection, derived, suffix, done, goal, used) ` +
      `SELECT ?, ?, ?, 0, coalesce(max(seq), 0), ? FROM ${quoted}`,
    [definition.name, derived, suffix, Date.now()],
  );
}
