import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "@fetchwork/kit";
import type { ClientBase, PoolClient } from "pg";

/**
 * How long a connection keeps the same session of the server: to its end (`"session"`), or for one transaction
 * (`"transaction"`), as behind PgBouncer in that mode. Behind a pooler it is not known at first (`"pooler"`).
 */
export type PoolingMode = "pooler" | "session" | "transaction" | "unknown";

/** What is known of a pooler between a store and its server. */
export interface Pooling {
  mode: PoolingMode;
}

/**
 * How often two connections are compared, and the longest time between two times in milliseconds. A busy pooler may lend
 * them different sessions for a while, and in a rhythm.
 */
const comparisons = 20;
const maxPause = 3;

/** Begins the knowledge of a store. */
export function beginPooling(isPooled: boolean | undefined): Pooling {
  if (isPooled === undefined) return { mode: "unknown" };
  return { mode: isPooled ? "transaction" : "session" };
}

/** Finds out whether there is a pooler: it names another process to the client than the one that runs the statements. */
export async function noticePooler(client: ClientBase, pooling: Pooling): Promise<void> {
  const named = String(Reflect.get(client, "processID"));
  const isDirect = named === (await readProcess(client));
  // Another connection may have come to it first.
  if (pooling.mode === "unknown") pooling.mode = isDirect ? "session" : "pooler";
}

/** Finds out whether two connections to a pooler take turns with one session of the server. */
export async function settlePooling(
  connections: { acquire(): Promise<PoolClient> },
  pooling: Pooling,
): Promise<void> {
  const one = await connections.acquire();
  if (pooling.mode !== "pooler") {
    one.release();
    return;
  }
  try {
    const other = await connections.acquire();
    try {
      pooling.mode = (await takeTurns(one, other)) ? "transaction" : "session";
    } finally {
      other.release(true);
    }
  } finally {
    // Both were opened without preparing them, because it was not known how.
    one.release(true);
  }
}

async function takeTurns(one: ClientBase, other: ClientBase): Promise<boolean> {
  const ofOne = await readProcess(one);
  const ofOther = await readProcess(other);
  if (ofOne === ofOther) return true;
  for (let count = 1; count < comparisons; count += 1) {
    await wait(Math.random() * maxPause);
    if ((await readProcess(one)) !== ofOne || (await readProcess(other)) !== ofOther) return true;
  }
  return false;
}

async function readProcess(client: ClientBase): Promise<string> {
  const result: unknown = await client.query("SELECT pg_backend_pid() AS process");
  const rows = isObject(result) ? result["rows"] : undefined;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return String(isObject(row) ? row["process"] : undefined);
}
