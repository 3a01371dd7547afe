import { DamagedError } from "../../../document/damaged-error.ts";
import { toStored } from "../../../document/stored.ts";
import { quoteName } from "../../dialect.ts";
import { describeGeneration, hashOf, unusedTime } from "../../generation.ts";
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
  return !isSearchBuilt(connection, layout) || unusedGenerations(connection, layout).length > 0;
}

/** Does a part of what {@link hasSearchWork} reports; returns whether there is more. */
export function workOnSearch(connection: Connection, layout: SqliteLayout, time: number): boolean {
  if (!isSearchBuilt(connection, layout)) buildSearch(connection, layout, time);
  else {
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

/** Derives missing texts, at most some hundred and for about `time` milliseconds. */
function buildSearch(connection: Connection, layout: SqliteLayout, time: number): void {
  const { definition, search } = layout;
  if (search.derived === null) return;
  const state = connection.get(
    `SELECT suffix, done, goal FROM ${generationsTable} WHERE collection = ? AND derived = ?`,
    [definition.name, search.derived],
  );
  if (state === undefined) return;
  const suffix = String(state[0]);
  const [, done, goal] = state.map(Number);
  if (done === undefined || goal === undefined || done >= goal) return;
  buildRange(connection, layout, { suffix, until: performance.now() + time, done, goal });
}

/** Whether no texts are missing in the table of this program. */
function isSearchBuilt(connection: Connection, { definition, search }: SqliteLayout): boolean {
  if (search.derived === null) return true;
  const row = connection.get(
    `SELECT 1 FROM ${generationsTable} WHERE collection = ? AND derived = ? AND done < goal`,
    [definition.name, search.derived],
  );
  return row === undefined;
}

function buildRange(
  connection: Connection,
  layout: SqliteLayout,
  part: {
    readonly suffix: string;
    readonly until: number;
    readonly done: number;
    readonly goal: number;
  },
): void {
  const { definition, quoted } = layout;
  const rows = connection.all(
    `SELECT id, version, created_at, updated_at, doc, NULL, seq FROM ${quoted} ` +
      `WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${chunk}`,
    [part.done, part.goal],
  );
  const count = writeTexts(connection, layout, { ...part, rows });
  const isEnd = count === rows.length && rows.length < chunk;
  connection.run(`UPDATE ${generationsTable} SET done = ? WHERE collection = ? AND suffix = ?`, [
    isEnd ? part.goal : Number(rows[count - 1]?.[6]),
    definition.name,
    part.suffix,
  ]);
}

/** Writes the texts of rows, at least one, until the time is over; returns the number of rows. */
function writeTexts(
  connection: Connection,
  { definition, search }: SqliteLayout,
  part: { readonly suffix: string; readonly until: number; readonly rows: readonly Row[] },
): number {
  const { textOf } = describeGeneration(search.derived ?? "", part.suffix);
  // A number of a row is given again when the last rows were removed, and so may be there.
  const write = `INSERT OR REPLACE INTO ${quoteName(searchTableOf(definition.name, part.suffix))} (rowid, text) VALUES (?, ?)`;
  let count = 0;
  for (const row of part.rows) {
    const text = textOrNothing(definition.name, row, textOf);
    if (text !== undefined) connection.run(write, [Number(row[6]), text]);
    count += 1;
    if (count % rowsPerLook === 0 && performance.now() >= part.until) break;
  }
  return count;
}

/** A damaged document is found by a check, and does not end the building of all others. */
function textOrNothing(
  collection: string,
  row: Row,
  textOf: (stored: unknown) => string,
): string | undefined {
  try {
    return textOf(toStored(collection, row));
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
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
