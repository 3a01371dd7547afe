import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openStore, type Store, type StoreOptions } from "../src/index.ts";
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
];

/** Opens a store in memory, which is closed when the test ends. */
export function openInMemory(options?: StoreOptions): Promise<Store> {
  return openAndClose("sqlite::memory:", options);
}

async function openAndClose(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}
