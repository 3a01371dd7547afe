import { type Dialect, quoteName } from "../../dialect.ts";
import type { Table } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { quoteText } from "./keys.ts";

/**
 * The table with the totals of collections with `keepTotal`. A total is the sum of several rows.
 * Each writer changes another one, so that writers do not wait for each other.
 */
export const totalsTable: string = quoteName("fetchwork:totals");

/** The row with the number of documents that a collection had when its total began to be kept. */
const firstSlot = -1;
/** Rows that the writers of a collection share. */
const slots = 64;

const triggerName = "fetchwork:total";

/** Changes that a trigger counts, and its names of the rows. */
const events = {
  insert: { changed: "INSERT", rows: "NEW TABLE AS added", difference: countOf("added") },
  delete: { changed: "DELETE", rows: "OLD TABLE AS gone", difference: `-${countOf("gone")}` },
  update: {
    changed: "UPDATE",
    rows: "OLD TABLE AS gone NEW TABLE AS added",
    difference: `${countOf("added")} - ${countOf("gone")}`,
  },
} as const;

type CountedEvent = keyof typeof events;

function countOf(rows: string): string {
  return `(SELECT count(*) FROM ${rows} WHERE deleted_at IS NULL)`;
}

/** An update changes the total only where removed documents are kept. */
function eventsOf({ softDelete }: Table): readonly CountedEvent[] {
  return softDelete ? ["insert", "delete", "update"] : ["insert", "delete"];
}

/** Returns the names of the triggers that keep the total of a collection. */
export function totalTriggers(table: Table): readonly string[] {
  return [...eventsOf(table), "truncate"].map(triggerFor);
}

function triggerFor(event: string): string {
  return `${triggerName}:${event}`;
}

/** Writes CREATE TABLE for totals; frequent changes of few rows need early vacuum. */
export function createTotals(): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${totalsTable} (collection text COLLATE "C" NOT NULL, slot integer NOT NULL, ` +
    "documents bigint NOT NULL, PRIMARY KEY (collection, slot)) " +
    "WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0)"
  );
}

/**
 * Writes the statements that have the server keep the total of a collection, whichever program
 * changes its documents.
 *
 * The functions name their schema and run as their owner. Other programs may have another search
 * path, and no right to change the totals.
 *
 * @param schema - The schema of the table, quoted.
 */
export function createTotalTriggers(table: Table, schema: string): readonly string[] {
  const create = (event: string, when: string, body: string): readonly string[] => {
    const name = `${schema}.${quoteName(triggerFor(event))}`;
    return [
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ` +
        `SET search_path = pg_catalog, pg_temp AS ${quoteText(body)}`,
      // A trigger on a table of somebody else's could change our totals.
      `REVOKE ALL ON FUNCTION ${name}() FROM PUBLIC`,
      `CREATE OR REPLACE TRIGGER ${quoteName(triggerFor(event))} AFTER ${when} FOR EACH STATEMENT ` +
        `EXECUTE FUNCTION ${name}(${quoteText(table.definition.name)})`,
    ];
  };
  const totals = `${schema}.${totalsTable}`;
  const on = `ON ${table.quoted}`;
  return [
    ...eventsOf(table).flatMap((event) => {
      const { changed, rows, difference } = events[event];
      return create(event, `${changed} ${on} REFERENCING ${rows}`, addToSlot(totals, difference));
    }),
    ...create(
      "truncate",
      `TRUNCATE ${on}`,
      `BEGIN UPDATE ${totals} SET documents = 0 WHERE collection = TG_ARGV[0]; RETURN NULL; END`,
    ),
  ];
}

/**
 * Writes the body of a function that adds to a row. No other open transaction has changed it, as
 * long as there is such a row. The row is looked for from the number of the server's process on, so
 * it is mostly the same one. ON CONFLICT finds it by the index and reads nothing that a
 * serializable transaction must keep in mind.
 */
function addToSlot(totals: string, difference: string): string {
  return (
    `DECLARE difference bigint := ${difference}; own integer := pg_backend_pid() % ${slots}; BEGIN ` +
    "IF difference = 0 THEN RETURN NULL; END IF; " +
    `FOR tried IN 1..${slots} LOOP ` +
    "EXIT WHEN pg_try_advisory_xact_lock(TG_RELID::integer, own); " +
    `own := (own + 1) % ${slots}; END LOOP; ` +
    `INSERT INTO ${totals} AS kept VALUES (TG_ARGV[0], own, difference) ` +
    "ON CONFLICT (collection, slot) DO UPDATE SET documents = kept.documents + excluded.documents; " +
    "RETURN NULL; END"
  );
}

/** Writes the statements that end the keeping of a total; without its rows it is unknown. */
export function dropTotalTriggers(table: Table): readonly string[] {
  const all = [...Object.keys(events), "truncate"];
  return [
    ...all.map(
      (event) => `DROP TRIGGER IF EXISTS ${quoteName(triggerFor(event))} ON ${table.quoted}`,
    ),
    forgetTotal(table),
  ];
}

/** Writes the statement that forgets the total of a collection. */
export function forgetTotal({ definition: { name } }: Table): string {
  return `DELETE FROM ${totalsTable} WHERE collection = ${quoteText(name)}`;
}

/**
 * Writes the statement that counts the documents there are. It sees them and the triggers' count so
 * far at one moment, so nobody has to wait for it.
 */
export function countOnce({ definition: { name }, quoted }: Table): string {
  return (
    `INSERT INTO ${totalsTable} SELECT ${quoteText(name)}, ${firstSlot}, ` +
    `(SELECT count(*) FROM ${quoted} WHERE deleted_at IS NULL) - coalesce(sum(documents), 0) ` +
    `FROM ${totalsTable} WHERE collection = ${quoteText(name)} ON CONFLICT DO NOTHING`
  );
}

/** Writes the statement that reads the total of a collection; -1 while it is unknown. */
export function readTotal(collection: string, sql: Dialect): Statement {
  const name = sql.bind(collection, "text");
  return sql.read(
    `SELECT CASE WHEN min(slot) = ${firstSlot} THEN sum(documents) ELSE -1 END ` +
      `FROM ${totalsTable} WHERE collection = ${name}`,
    "fixed",
  );
}

/** Writes the statement that reads a collection's kept and actual total where they differ. */
export function wrongTotal(collection: string): string {
  const kept =
    `SELECT CASE WHEN min(slot) = ${firstSlot} THEN sum(documents) END FROM ${totalsTable} ` +
    `WHERE collection = ${quoteText(collection)}`;
  const there = `SELECT count(*) FROM ${quoteName(collection)} WHERE deleted_at IS NULL`;
  return `SELECT kept, there FROM (SELECT (${kept}) AS kept, (${there}) AS there) AS totals WHERE kept <> there`;
}
