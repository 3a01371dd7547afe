import type { LockTable } from "../../leases/hold-lock.ts";
import { releaseLock, renewLock, takeLock } from "../operations/locks.ts";
import { runOperation } from "./connections/run-operation.ts";
import type { Session } from "./connections/session.ts";
import { PostgresWriter } from "./statements/dialect.ts";

/** The locks as a session reaches them. */
export function lockTable(session: Session): LockTable {
  return {
    takeLock: (lock) => runOperation(session, takeLock(new PostgresWriter(), lock)),
    renewLock: (lock) => runOperation(session, renewLock(new PostgresWriter(), lock)),
    releaseLock: (lock) => runOperation(session, releaseLock(new PostgresWriter(), lock)),
  };
}
