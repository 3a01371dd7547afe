import { type Dialect, quoteName } from "../../dialect.ts";
import type { Table } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { quoteText } from "./keys.ts";

/**
 * The table with the number of documents of collections with a `counter`, each in several rows, so that writers do not wait
 * for each other: the number of documents is the sum of them.
 */
export const countsTable: string = quoteName("fetchwork:counts");

/** Row of the documents that a collection had when its counter was created; the number is kept from then on. */
const firstSlot = -1;
/** Rows of a collection, one of which the process of a connection uses. */
const slots = 64;

const triggerName = "fetchwork:count";

/** What a trigger counts, and how it names the rows. */
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

/** The changes that a collection counts; only a removed document that is kept changes the number by an update. */
function eventsOf({ softDelete }: Table): readonly CountedEvent[] {
  return softDelete ? ["insert", "delete", "update"] : ["insert", "delete"];
}

/** Names of the triggers of a collection's table. */
export function countTriggers(table: Table): readonly string[] {
  return [...eventsOf(table), "truncate"].map((event) => `${triggerName}:${event}`);
}

/** Writes the statement that creates the table of counts. */
export function createCounts(): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${countsTable} (collection text COLLATE "C" NOT NULL, slot integer NOT NULL, ` +
    "documents bigint NOT NULL, PRIMARY KEY (collection, slot)) WITH (fillfactor = 50)"
  );
}

/**
 * Writes the statements that have the server count the documents of a collection, whatever program changes them.
 *
 * The functions name their schema and run as their owner, because other programs may have another search path and may not
 * be allowed to change the counts. ON CONFLICT finds the row by the index and reads nothing that a serializable transaction
 * would have to keep in mind.
 *
 * @param schema - The schema of the table, quoted.
 */
export function createCountTriggers(table: Table, schema: string): readonly string[] {
  const { quoted } = table;
  const counts = `${schema}.${countsTable}`;
  const own = (event: string): string => `${schema}.${quoteName(`fetchwork:count:${event}`)}`;
  const define = (event: string, work: string): string =>
    `CREATE OR REPLACE FUNCTION ${own(event)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ` +
    `SET search_path = pg_catalog, pg_temp AS ${quoteText(`BEGIN ${work}; RETURN NULL; END`)}`;
  const replace = (event: string, when: string): readonly string[] => {
    const trigger = quoteName(`${triggerName}:${event}`);
    return [
      `DROP TRIGGER IF EXISTS ${trigger} ON ${quoted}`,
      `CREATE TRIGGER ${trigger} AFTER ${when} FOR EACH STATEMENT EXECUTE FUNCTION ` +
        `${own(event)}(${quoteText(table.definition.name)})`,
    ];
  };
  return [
    ...eventsOf(table).flatMap((event) => {
      const { changed, rows, difference } = events[event];
      const work =
        `INSERT INTO ${counts} AS own SELECT TG_ARGV[0], pg_backend_pid() % ${slots}, difference ` +
        `FROM (SELECT ${difference} AS difference) AS counted WHERE difference <> 0 ` +
        "ON CONFLICT (collection, slot) DO UPDATE SET documents = own.documents + excluded.documents";
      return [
        define(event, work),
        ...replace(event, `${changed} ON ${quoted} REFERENCING ${rows}`),
      ];
    }),
    define("truncate", `UPDATE ${counts} SET documents = 0 WHERE collection = TG_ARGV[0]`),
    ...replace("truncate", `TRUNCATE ON ${quoted}`),
  ];
}

/** Writes the statement that forgets the number of documents of a collection. */
export function forgetCounts({ definition: { name } }: Table): string {
  return `DELETE FROM ${countsTable} WHERE collection = ${quoteText(name)}`;
}

/**
 * Writes the statement that counts the documents there are. It sees the documents and what was counted of them since the
 * triggers exist at one moment, so nobody has to wait for it.
 */
export function countOnce({ definition: { name }, quoted }: Table): string {
  return (
    `INSERT INTO ${countsTable} SELECT ${quoteText(name)}, ${firstSlot}, ` +
    `(SELECT count(*) FROM ${quoted} WHERE deleted_at IS NULL) - coalesce(sum(documents), 0) ` +
    `FROM ${countsTable} WHERE collection = ${quoteText(name)} ON CONFLICT DO NOTHING`
  );
}

/** Writes the statement that reads the number of documents of a collection; -1 while it is not known. */
export function readKeptTotal(collection: string, sql: Dialect): Statement {
  const name = sql.bind(collection, "text");
  return sql.read(
    `SELECT CASE WHEN min(slot) = ${firstSlot} THEN sum(documents) ELSE -1 END ` +
      `FROM ${countsTable} WHERE collection = ${name}`,
    "fixed",
  );
}

/** Writes the statement that reads the number that is kept of a collection and the right one, where they differ. */
export function wrongCount(collection: string): string {
  const kept =
    `SELECT CASE WHEN min(slot) = ${firstSlot} THEN sum(documents) END FROM ${countsTable} ` +
    `WHERE collection = ${quoteText(collection)}`;
  const there = `SELECT count(*) FROM ${quoteName(collection)} WHERE deleted_at IS NULL`;
  return `SELECT kept, there FROM (SELECT (${kept}) AS kept, (${there}) AS there) AS numbers WHERE kept <> there`;
}
