import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { openStore, type Store, type StoreOptions } from "../src/index.ts";
import { NO_POSTGRES, type PostgresServer, runSql, startPostgres } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Opens an empty store of one engine, which is closed when the test ends. */
export type Open = (options?: StoreOptions) => Promise<Store>;

/** The engines that the contract is held against. */
export const ENGINES: readonly (readonly [name: string, open: Open])[] = [
  [
    "SQLite in a file",
    (options) => openAndClose(`sqlite:${join(temporaryFolder(), "a.db")}`, options),
  ],
  ["SQLite in memory", openInMemory],
  ...(NO_POSTGRES === undefined ? [["PostgreSQL", openInPostgres] as const] : []),
];

let server: Promise<PostgresServer> | undefined;

/** Opens a store in memory, which is closed when the test ends. */
export function openInMemory(options?: StoreOptions): Promise<Store> {
  return openAndClose("sqlite::memory:", options);
}

/** Opens a store in a new database, which is closed when the test ends. */
export async function openInPostgres(options?: StoreOptions): Promise<Store> {
  return openAndClose(await newDatabase(), options);
}

/** Creates a database on the server that the tests of a file share, and gives its URL. */
export async function newDatabase(): Promise<string> {
  server ??= startShared();
  return (await server).create();
}

async function startShared(): Promise<PostgresServer> {
  const started = await startPostgres();
  await runSql(started.url("template1"), "CREATE EXTENSION pg_trgm");
  return started;
}

afterAll(async () => {
  await (await server)?.stop();
});

async function openAndClose(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}
