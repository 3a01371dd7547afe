import { ENGINES } from "./open-for-test.ts";

/** The engines that have everything. */
export const SQLITE_ENGINES: typeof ENGINES = ENGINES.filter(([name]) => name.startsWith("SQLite"));
