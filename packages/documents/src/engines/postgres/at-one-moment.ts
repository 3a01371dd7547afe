import type { PoolClient } from "pg";
import { type Connections, execute } from "./connections/connections.ts";

/** Reads in a transaction that keeps to one moment. */
export async function atOneMoment<R>(
  connections: Connections,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  const client = await connections.acquire();
  let failure: unknown;
  try {
    await execute(client, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await work(client);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    connections.release(client, await connections.rollback(client, failure));
  }
}
