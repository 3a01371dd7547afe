import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { openStore, type Store, type StoreOptions } from "../src/index.ts";
import { POSTGRES, POSTGRES_BIN } from "./postgres-server.ts";
import { SharedServer } from "./shared-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Opens an empty store of one engine, which is closed when the test ends. */
export type Open = (options?: StoreOptions) => Promise<Store>;

const URLS = new WeakMap<Store, string>();

/** The servers that the tests of a file share, by the name of the engine. */
const SERVERS = new Map<string, SharedServer>();

/** The engines that the contract is held against. */
export const ENGINES: readonly (readonly [name: string, open: Open])[] = [
  [
    "SQLite in a file",
    (options) => openAndClose(`sqlite:${join(temporaryFolder(), "a.db")}`, options),
  ],
  ["SQLite in memory", openInMemory],
  ...POSTGRES.map(([name, bin]): readonly [string, Open] => [
    name,
    async (options) => openAndClose(await newDatabase(bin), options),
  ]),
  ...POSTGRES.slice(0, 1).map(([name, bin]): readonly [string, Open] => [
    `${name}, distributed`,
    async (options) => {
      const postgres = { ...options?.postgres, distributed: true };
      return openAndClose(await newDatabase(bin), { ...options, postgres });
    },
  ]),
];

/** Opens a store in memory, which is closed when the test ends. */
export function openInMemory(options?: StoreOptions): Promise<Store> {
  return openAndClose("sqlite::memory:", options);
}

/** Opens a store in a new database, which is closed when the test ends. */
export async function openInPostgres(options?: StoreOptions): Promise<Store> {
  return openAndClose(await newDatabase(), options);
}

/** Gives the URL of an empty database of a server that the tests of a file share. */
export async function newDatabase(bin: string | undefined = POSTGRES_BIN): Promise<string> {
  const key = bin ?? "";
  const server = SERVERS.get(key) ?? new SharedServer(bin);
  SERVERS.set(key, server);
  const url = await server.take();
  onTestFinished(() => server.giveBack(url));
  return url;
}

/** Gives the URL of a store, unless it is one of SQLite. */
export function postgresUrlOf(store: Store): string | undefined {
  const url = URLS.get(store);
  return url?.startsWith("postgres") === true ? url : undefined;
}

afterAll(async () => {
  for (const server of SERVERS.values()) await server.stop();
  SERVERS.clear();
});

async function openAndClose(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  URLS.set(store, url);
  onTestFinished(() => store.close());
  return store;
}
