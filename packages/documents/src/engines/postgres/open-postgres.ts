import { DocumentsError } from "../../api/errors.ts";
import type { PostgresOptions } from "../../api/postgres-options.ts";
import { parsePostgresUrl } from "./connections/address.ts";
import { Connections } from "./connections/connections.ts";
import { toDocumentsError } from "./connections/postgres-error.ts";
import { closeServers, type Servers } from "./connections/servers.ts";
import { parsePostgresOptions, type PostgresSettings } from "./connections/settings.ts";
import { settleDistribution } from "./distributed/distribution.ts";
import { PostgresEngine } from "./postgres-engine.ts";

/** Opens a database of PostgreSQL as an engine. */
export async function openPostgres(
  url: string,
  {
    create,
    postgres,
  }: { readonly create: boolean; readonly postgres: PostgresOptions | undefined },
): Promise<PostgresEngine> {
  const address = parsePostgresUrl(url);
  const settings = parsePostgresOptions(postgres, address);
  const connect = (own: Partial<PostgresSettings> = {}): Connections =>
    new Connections(address, { ...settings, ...own });
  const servers: Servers = {
    connections: connect(),
    maintenance: connect({ poolSize: 3 }),
    listening: connect({ poolSize: 1, failoverTimeout: 0 }),
  };
  try {
    const wanted = settings.distributed;
    const isDistributed = await settle(servers.connections, { wanted, create });
    const engine = new PostgresEngine(servers, { isDistributed });
    await engine.create();
    return engine;
  } catch (error) {
    await closeServers(servers);
    throw toDocumentsError(error);
  }
}

/** Makes sure that the database can be reached and keeps every text, and which kind it is of. */
async function settle(
  connections: Connections,
  store: { readonly wanted: boolean | undefined; readonly create: boolean },
): Promise<boolean> {
  const text = "SELECT current_setting('server_encoding')";
  const { rows } = await connections.read({ text, values: [] });
  if (rows[0]?.[0] === "UTF8") return settleDistribution(connections, store);
  throw new DocumentsError("ERR_DOCUMENTS_OPEN", "the database has another encoding than UTF8");
}
