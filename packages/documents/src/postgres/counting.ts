import type { ParsedSelection } from "../query.ts";
import { whereSql } from "./reading.ts";
import { countNear } from "./reading-near.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** Counts documents, up to `max`. */
export async function count(
  session: Session,
  table: Table,
  { max, ...selection }: ParsedSelection & { readonly max?: number | undefined },
): Promise<number> {
  const { near } = selection;
  if (near !== undefined) return countNear(session, table, { selection, near, max });
  const parameters = new Parameters();
  const from = `${table.quoted}${whereSql(table, selection, parameters)}`;
  const { rows } = await session.read({
    text: `SELECT count(*) FROM ${max === undefined ? from : `(SELECT FROM ${from} LIMIT ${max}) AS found`}`,
    values: parameters.values,
  });
  return Number(rows[0]?.[0]);
}
