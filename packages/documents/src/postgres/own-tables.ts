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

/**
 * Creates the store's own tables.
 *
 * Positions of the feed are drawn while the changed row is locked, so that the changes of one
 * document are in their order; `CACHE 1` keeps a connection from drawing some in advance.
 */
export const CREATE_OWN_TABLES: string = [
  `CREATE TABLE IF NOT EXISTS ${REGISTRY} (name text COLLATE "C" PRIMARY KEY, search text, expires text)`,
  `ALTER TABLE ${REGISTRY} ADD COLUMN IF NOT EXISTS geo text`,
  `CREATE TABLE IF NOT EXISTS ${CHANGES} (` +
    "position bigint GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY, " +
    'collection text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, kind text NOT NULL, ' +
    'version bigint NOT NULL, at text COLLATE "C" NOT NULL, doc jsonb)',
  `CREATE TABLE IF NOT EXISTS ${POSITIONS} (name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${MIGRATIONS} (id bigint PRIMARY KEY, name text NOT NULL, at text NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${LOCKS} (name text COLLATE "C" PRIMARY KEY, token text NOT NULL, until bigint NOT NULL)`,
].join("; ");
