import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsError } from "../../api/errors.ts";
import type { Migration } from "../../api/migration.ts";
import type { PostgresOptions } from "../../api/postgres-options.ts";
import { Connections } from "./connections.ts";
import { settleDistribution } from "./distribution.ts";
import { toDocumentsError } from "./postgres-error.ts";
import { parsePostgresOptions } from "./postgres-settings.ts";
import { PostgresStore } from "./postgres-store.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { closeServers, type Servers } from "./servers.ts";

/** Opens the store in a database of PostgreSQL. */
export async function openPostgres(
  url: string,
  {
    collections,
    create,
    migrations,
    postgres,
  }: {
    readonly collections: readonly CollectionDefinition<object>[];
    readonly create: boolean;
    readonly migrations: readonly Migration[] | undefined;
    readonly postgres: PostgresOptions | undefined;
  },
): Promise<PostgresStore> {
  const address = parsePostgresUrl(url);
  const settings = parsePostgresOptions(postgres);
  const servers: Servers = {
    connections: new Connections(address, settings),
    maintenance: new Connections(address, { ...settings, poolSize: 2 }),
    listening: new Connections(address, { ...settings, poolSize: 1, failoverTimeout: 0 }),
    replicas: settings.replicas.map(
      (replica) => new Connections(replica, { ...settings, failoverTimeout: 0, isReplica: true }),
    ),
  };
  const isDistributed = await settle(servers.connections, {
    wanted: settings.distributed,
    create,
  }).catch(async (error: unknown) => {
    await closeServers(servers);
    throw toDocumentsError(error);
  });
  const store = new PostgresStore(servers, { isDistributed });
  try {
    await store.create();
    if (migrations !== undefined) await store.migrate(migrations);
    await store.prepare(collections);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Makes sure that the database can be reached and keeps every text, and which kind it is of. */
async function settle(
  connections: Connections,
  store: { readonly wanted: boolean | undefined; readonly create: boolean },
): Promise<boolean> {
  const { rows } = await connections.read({
    text: "SELECT current_setting('server_encoding')",
    values: [],
  });
  if (rows[0]?.[0] === "UTF8") return settleDistribution(connections, store);
  throw new DocumentsError("ERR_DOCUMENTS_OPEN", "The database has another encoding than UTF8");
}
