import type { Connections } from "./connections.ts";

/** The connections of a store, each for what must not wait for the others. */
export interface Servers {
  /** For documents. */
  readonly connections: Connections;
  /** For preparing collections, so that it waits for no transaction that waits for it. */
  readonly maintenance: Connections;
  /** For hearing of the changes of other processes. */
  readonly listening: Connections;
}

/** Closes the connections as they come back. */
export async function closeServers(servers: Servers): Promise<void> {
  const { connections, maintenance, listening } = servers;
  await Promise.all([connections, maintenance, listening].map((own) => own.close()));
}
