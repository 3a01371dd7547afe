import { quoteName } from "./dialect.ts";

/** The table with a row for each collection. */
export const registryTable: string = quoteName("fetchwork:collections");

/** The table with the change feed. */
export const changesTable: string = quoteName("fetchwork:changes");

/** The table of consumer positions and of the position where the feed was trimmed. */
export const positionsTable: string = quoteName("fetchwork:positions");

/** The table with the locks that are held. */
export const locksTable: string = quoteName("fetchwork:locks");

/** The table with the migrations that ran. */
export const migrationsTable: string = quoteName("fetchwork:migrations");

/** The table with the ways in which programs derive search texts. */
export const generationsTable: string = quoteName("fetchwork:search");
