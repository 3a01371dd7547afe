import { deleteMatching } from "./deleting.ts";
import { recordMatching } from "./recording.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";

/** The greatest number of documents that one sweep removes, which bounds the time it takes. */
export const SWEEP_BATCH = 1000;

/** Removes expired documents for good, at most {@link SWEEP_BATCH}; gives their number. */
export function sweepTable(session: Session, table: Table): number {
  if (table.expiresAt === undefined) return 0;
  const { connection } = session;
  const where =
    ` WHERE seq IN (SELECT seq FROM ${table.quoted} ` +
    "WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)";
  const parameters = [Date.now(), SWEEP_BATCH];
  const live = table.softDelete ? " AND deleted_at IS NULL" : "";
  const counted = connection.get(
    `SELECT count(*) FROM ${table.quoted}${where}${live}`,
    parameters,
  )?.[0];
  recordMatching(session, table, {
    kind: "remove",
    added: 0,
    at: session.stamps.now(),
    where,
    parameters,
  });
  const removed = deleteMatching(session, table, { where, parameters });
  session.addCount(table, -Number(counted));
  return removed;
}
