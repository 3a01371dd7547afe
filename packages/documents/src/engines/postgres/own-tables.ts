import { quoteName } from "./sql.ts";

/** The table with a row for each collection. */
export const REGISTRY: string = quoteName("fetchwork:collections");

/** The table with the feed of changes. */
export const CHANGES: string = quoteName("fetchwork:changes");

/** The table with the positions of consumers, and that up to which the feed was trimmed. */
export const POSITIONS: string = quoteName("fetchwork:positions");

/** The table with the locks that are held. */
export const LOCKS: string = quoteName("fetchwork:locks");

/** The table with the migrations that ran. */
export const MIGRATIONS: string = quoteName("fetchwork:migrations");

/** The table with what is settled about the store as a whole. */
export const STATE: string = quoteName("fetchwork:state");

/** The table with the values of unique fields, in a distributed store. */
export const CLAIMS: string = quoteName("fetchwork:claims");

/** The table with the last position of the feed, in a distributed store. */
export const FEED_END: string = quoteName("fetchwork:feed-end");

/** Creates the table that comes before all others. */
export const CREATE_STATE: string = `CREATE TABLE IF NOT EXISTS ${STATE} (name text COLLATE "C" PRIMARY KEY, value text NOT NULL)`;

/**
 * Gives the statements that create the store's own tables, that of locks last.
 *
 * Positions of the feed are drawn while the changed row is locked, so that the changes of one
 * document are in their order; `CACHE 1` keeps a connection from drawing some in advance.
 */
export function createOwnTables(isDistributed: boolean): readonly string[] {
  const position = isDistributed
    ? "position bigint PRIMARY KEY, "
    : "position bigint GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY, ";
  return [
    `CREATE TABLE IF NOT EXISTS ${REGISTRY} (name text COLLATE "C" PRIMARY KEY, search text, expires text)`,
    `ALTER TABLE ${REGISTRY} ADD COLUMN IF NOT EXISTS geo text`,
    `ALTER TABLE ${REGISTRY} ADD COLUMN IF NOT EXISTS removed text`,
    `CREATE TABLE IF NOT EXISTS ${CHANGES} (${position}` +
      'collection text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, kind text NOT NULL, ' +
      'version bigint NOT NULL, at text COLLATE "C" NOT NULL, doc jsonb)',
    `CREATE TABLE IF NOT EXISTS ${POSITIONS} (name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${MIGRATIONS} (id bigint PRIMARY KEY, name text NOT NULL, at text NOT NULL)`,
    ...(isDistributed ? CREATE_DISTRIBUTED_TABLES : []),
    `CREATE TABLE IF NOT EXISTS ${LOCKS} (name text COLLATE "C" PRIMARY KEY, token text NOT NULL, until bigint NOT NULL)`,
  ];
}

const CREATE_DISTRIBUTED_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${CLAIMS} (collection text COLLATE "C" NOT NULL, ` +
    'field text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, ' +
    'id text COLLATE "C" NOT NULL, PRIMARY KEY (collection, field, value))',
  `CREATE INDEX IF NOT EXISTS ${quoteName("fetchwork:claims:id")} ON ${CLAIMS} (collection, id)`,
  `CREATE TABLE IF NOT EXISTS ${FEED_END} (name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
  `INSERT INTO ${FEED_END} (name, position) VALUES ('feed', 0) ON CONFLICT DO NOTHING`,
];
