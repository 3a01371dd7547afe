import { ENGINES } from "./open-for-test.ts";

/** The engines that have the feed of changes and locks. */
export const FEED_ENGINES: typeof ENGINES = ENGINES.filter(([name]) => name.startsWith("SQLite"));
