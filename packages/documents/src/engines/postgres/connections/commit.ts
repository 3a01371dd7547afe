import { DatabaseError, type PoolClient } from "pg";
import { execute } from "./connections.ts";
import { isConflictState, sqlState } from "./postgres-error.ts";

const internalError = "XX000";

/**
 * Commits a transaction. Where a worker of Citus finds a conflict at the commit, a notice has the
 * code of its error. The error of the coordinator then says nothing of it. Nothing happened then:
 * only one server had changes, or they would have been prepared before.
 */
export async function commit(client: PoolClient, limit: number): Promise<void> {
  const states: string[] = [];
  const note = ({ code = "" }: { readonly code?: string | undefined }): void => {
    if (!isWarning(code)) states.push(code);
  };
  client.on("notice", note);
  try {
    await execute(client, "COMMIT", limit);
  } catch (error) {
    const [state] = states;
    const isConflict = state !== undefined && states.every(isConflictState);
    throw isConflict && sqlState(error) === internalError ? conflict(state) : error;
  } finally {
    client.off("notice", note);
  }
}

/** Classes 00 and 01 say nothing of what failed elsewhere. */
function isWarning(code: string): boolean {
  return code.startsWith("00") || code.startsWith("01");
}

function conflict(code: string): DatabaseError {
  const message = "a server of the cluster found a conflict at the commit";
  return Object.assign(new DatabaseError(message, 0, "error"), { code });
}
