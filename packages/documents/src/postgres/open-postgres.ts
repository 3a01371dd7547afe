import type { CollectionDefinition } from "../definition.ts";
import type { Migration } from "../migration.ts";
import { Connections } from "./connections.ts";
import { parsePostgresOptions, type PostgresOptions } from "./postgres-options.ts";
import { PostgresStore } from "./postgres-store.ts";
import { parsePostgresUrl } from "./postgres-url.ts";

/** Opens the store in a database of PostgreSQL. */
export async function openPostgres(
  url: string,
  {
    collections,
    migrations,
    postgres,
  }: {
    readonly collections: readonly CollectionDefinition<object>[];
    readonly migrations: readonly Migration[] | undefined;
    readonly postgres: PostgresOptions | undefined;
  },
): Promise<PostgresStore> {
  const address = parsePostgresUrl(url);
  const settings = parsePostgresOptions(postgres);
  const store = new PostgresStore(
    new Connections(address, settings),
    new Connections(address, { ...settings, poolSize: 2 }),
  );
  try {
    await store.check();
    await store.create();
    if (migrations !== undefined) await store.migrate(migrations);
    await store.prepare(collections);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
