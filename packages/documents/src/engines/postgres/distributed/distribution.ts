import { setTimeout as wait } from "node:timers/promises";
import { DocumentsError } from "../../../api/errors.ts";
import type { Connections } from "../connections/connections.ts";
import { sqlState } from "../connections/postgres-error.ts";
import { createStateTable, stateTable } from "../statements/own-tables.ts";

const tableMissing = "42P01";
/** Two may create one table at once: the second fails in spite of IF NOT EXISTS. */
const createdTwice: ReadonlySet<string | undefined> = new Set(["23505", "42710", "42P07"]);
const maxAttempts = 20;
const pause = 20;

/**
 * Settles whether the store is distributed, once and for all processes; `wanted` is `undefined` for
 * whatever it is.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_OPEN` for a store that was created as the other kind;
 *   `ERR_DOCUMENTS_MISSING` when there is none, and none is to be created.
 */
export async function settleDistribution(
  connections: Connections,
  { wanted, create }: { readonly wanted: boolean | undefined; readonly create: boolean },
): Promise<boolean> {
  const isDistributed =
    (await readDistribution(connections)) ??
    (await writeDistribution(connections, { wanted, create }));
  if (wanted === undefined || wanted === isDistributed) return isDistributed;
  throw new DocumentsError(
    "ERR_DOCUMENTS_OPEN",
    `the store was created as one that is ${isDistributed ? "" : "not "}distributed; ` +
      'copy it into another database with "fetchwork db copy" to change that',
  );
}

async function readDistribution(connections: Connections): Promise<boolean | undefined> {
  try {
    const { rows } = await connections.read({
      text: `SELECT value FROM ${stateTable} WHERE name = 'distributed'`,
      values: [],
    });
    const value = rows[0]?.[0];
    return value === undefined ? undefined : value === "true";
  } catch (error) {
    if (sqlState(error) === tableMissing) return undefined;
    throw error;
  }
}

async function writeDistribution(
  connections: Connections,
  { wanted, create }: { readonly wanted: boolean | undefined; readonly create: boolean },
): Promise<boolean> {
  if (!create) throw new DocumentsError("ERR_DOCUMENTS_MISSING", "the database has no store");
  await createOnce(connections, createStateTable);
  await connections.write({
    text: `INSERT INTO ${stateTable} (name, value) VALUES ('distributed', $1) ON CONFLICT DO NOTHING`,
    values: [String(wanted === true)],
  });
  return (await readDistribution(connections)) === true;
}

/** Creates something of which another process may create the same at the same time. */
export async function createOnce(connections: Connections, text: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await connections.write({ text, values: [] });
      return;
    } catch (error) {
      if (!createdTwice.has(sqlState(error)) || attempt === maxAttempts) throw error;
      await wait(pause);
    }
  }
}
