import { quoteName } from "../../dialect.ts";
import {
  changesTable,
  generationsTable,
  locksTable,
  migrationsTable,
  positionsTable,
  registryTable,
} from "../../own-tables.ts";

/** The table with what is settled about the store as a whole. */
export const stateTable: string = quoteName("fetchwork:state");

/** The table with the values of unique fields, in a distributed store. */
export const claimsTable: string = quoteName("fetchwork:claims");

/** The table with the last position of the feed, in a distributed store. */
export const feedEndTable: string = quoteName("fetchwork:feed-end");

/** Creates the table that comes before all others. */
export const createStateTable: string =
  `CREATE TABLE IF NOT EXISTS ${stateTable} ` +
  '(name text COLLATE "C" PRIMARY KEY, value text NOT NULL)';

/**
 * Returns the statements that create the store's own tables, that of locks last.
 *
 * Positions of the feed are drawn while the changed row is locked. So the changes of one document
 * are in their order; `CACHE 1` keeps a connection from drawing some in advance.
 */
export function createOwnTables(isDistributed: boolean): readonly string[] {
  const position = isDistributed
    ? "position bigint PRIMARY KEY, "
    : "position bigint GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY, ";
  return [
    `CREATE TABLE IF NOT EXISTS ${registryTable} (name text COLLATE "C" PRIMARY KEY, expires text, geo text, ` +
      "removed text NOT NULL)",
    `CREATE TABLE IF NOT EXISTS ${changesTable} (${position}` +
      'collection text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, kind text NOT NULL, ' +
      'version bigint NOT NULL, at text COLLATE "C" NOT NULL, doc jsonb)',
    `CREATE TABLE IF NOT EXISTS ${positionsTable} (name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${migrationsTable} (id bigint PRIMARY KEY, name text NOT NULL, at text NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${generationsTable} (collection text COLLATE "C" NOT NULL, ` +
      'derived text COLLATE "C" NOT NULL, suffix text NOT NULL, built boolean NOT NULL, ' +
      "used bigint NOT NULL, PRIMARY KEY (collection, derived))",
    ...(isDistributed ? distributedTables : []),
    `CREATE TABLE IF NOT EXISTS ${locksTable} (name text COLLATE "C" PRIMARY KEY, token text NOT NULL, until bigint NOT NULL)`,
  ];
}

const distributedTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${claimsTable} (collection text COLLATE "C" NOT NULL, ` +
    'field text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, ' +
    'id text COLLATE "C" NOT NULL, PRIMARY KEY (collection, field, value))',
  `CREATE INDEX IF NOT EXISTS ${quoteName("fetchwork:claims:id")} ON ${claimsTable} (collection, id)`,
  `CREATE TABLE IF NOT EXISTS ${feedEndTable} (name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
  `INSERT INTO ${feedEndTable} (name, position) VALUES ('feed', 0) ON CONFLICT DO NOTHING`,
];
