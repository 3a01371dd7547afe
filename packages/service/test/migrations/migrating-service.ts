import { openStore, type Store } from "@fetchwork/documents";
import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { onTestFinished } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineService,
  type DocumentMigration,
  openService,
  type OpenService,
  readStartSettings,
  serverSettings,
} from "../../src/index.ts";
import type { Log } from "../../src/log/log.ts";

/** Items of a version between two: they have the old field, the new one, or none. */
export const item = defineResource({
  name: "item",
  path: "/items",
  schema: z.object({
    titel: z.string().optional(),
    title: z.string().optional(),
    count: z.int().default(0),
  }),
  access: { list: "public", show: "public", create: "public", update: "public", remove: "master" },
});

/** Renames `titel`. */
export const rename: DocumentMigration = {
  id: 1,
  name: "rename-titel",
  changes: [
    {
      collection: "items",
      change: ({ titel, ...rest }) => (titel === undefined ? undefined : { ...rest, title: titel }),
    },
  ],
};

/** Makes a service with migrations. */
export function migratingService(
  migrations: readonly DocumentMigration[] | undefined,
): ReturnType<typeof defineService> {
  return defineService({
    name: "migrating",
    config: defineConfig({ ...serverSettings }),
    resources: [resourceRoutes(item)],
    migrations,
  });
}

/** A store in memory with so many items of the old version. */
export async function oldStore(count: number): Promise<Store> {
  const store = await openStore("sqlite::memory:", { collections: [item.collection] });
  onTestFinished(() => store.close());
  await store
    .collection(item.collection)
    .insertMany(Array.from({ length: count }, (_, index) => ({ titel: `t${index}`, count: 0 })));
  return store;
}

/** A service that has started, and what it logged. */
export interface Started {
  readonly opened: OpenService;
  readonly lines: readonly string[];
  readonly errors: readonly unknown[];
}

/** Starts a service on a store, as a process does. */
export async function start(
  store: Store,
  migrations: readonly DocumentMigration[] | undefined,
  settings: Readonly<Record<string, string>> = { MIGRATE: "start" },
): Promise<Started> {
  const service = migratingService(migrations);
  const lines: string[] = [];
  const errors: unknown[] = [];
  const logs: Log = {
    started: () => undefined,
    noted: (line) => void lines.push(line),
    warned: (line) => void lines.push(line),
    failed: (error) => void errors.push(error),
  };
  const environment = { MASTER_KEY: "m".repeat(32), ...settings };
  const opened = openService(service, store, {
    settings: readStartSettings(service, environment),
    logs,
  });
  onTestFinished(() => opened.stop());
  await opened.start();
  return { opened, lines, errors };
}
