import { changeStatement } from "./recording.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** The greatest number of documents that one sweep removes, which bounds the time it takes. */
export const SWEEP_BATCH = 1000;

/** Removes expired documents for good, at most {@link SWEEP_BATCH}; gives their number. */
export async function sweepTable(session: Session, table: Table): Promise<number> {
  if (table.expiresAt === undefined) return 0;
  const parameters = new Parameters();
  const { count } = await session.write(
    changeStatement(table, {
      text:
        `DELETE FROM ${table.quoted} WHERE id IN (SELECT id FROM ${table.quoted} ` +
        `WHERE expires_at <= ${parameters.bind(String(Date.now()), "bigint")} ` +
        `ORDER BY expires_at LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED)`,
      kind: "remove",
      parameters,
      at: session.stamps.now(),
    }),
  );
  return count;
}
