import { makeChange } from "./recording.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** The greatest number of documents that one sweep removes, which bounds the time it takes. */
export const SWEEP_BATCH = 1000;

/** Removes expired documents for good, at most {@link SWEEP_BATCH}; gives their number. */
export async function sweepTable(session: Session, table: Table): Promise<number> {
  if (table.expiresAt === undefined) return 0;
  const parameters = new Parameters();
  const due = `expires_at <= ${parameters.bind(String(Date.now()), "bigint")}`;
  const oldest = `SELECT id FROM ${table.quoted} WHERE ${due} ORDER BY expires_at LIMIT ${SWEEP_BATCH}`;
  const ids = table.isDistributed
    ? `ANY(${parameters.bind(await readIds(session, oldest, parameters), "text[]")}) AND ${due}`
    : `ANY(ARRAY(${oldest} FOR UPDATE SKIP LOCKED))`;
  const { count } = await makeChange(
    session,
    table,
    {
      text: `DELETE FROM ${table.quoted} WHERE id = ${ids}`,
      kind: "remove",
      parameters,
      at: session.stamps.now(),
    },
    { drop: "all" },
  );
  return count;
}

/** Spread tables take no lock over several servers, so what is removed is named first. */
async function readIds(
  session: Session,
  text: string,
  { values }: Parameters,
): Promise<readonly (string | null)[]> {
  const { rows } = await session.read({ text, values: [...values] });
  return rows.map(([id = null]) => id);
}
