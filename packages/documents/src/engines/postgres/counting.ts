import type { ParsedSelection } from "../../query/parse-query.ts";
import { countNear } from "./reading-near.ts";
import { whereSql } from "./reading.ts";
import type { Session } from "./session.ts";
import { DraftParameters, expandKeys } from "./sql.ts";
import { statementOf, type Table } from "./table.ts";

/** Counts documents, up to `max`. */
export async function count(
  session: Session,
  table: Table,
  { max, ...selection }: ParsedSelection & { readonly max?: number | undefined },
): Promise<number> {
  const { near } = selection;
  if (near !== undefined) return countNear(session, table, { selection, near, max });
  const parameters = new DraftParameters();
  const from = `${table.quoted}${whereSql(table, selection, parameters)}`;
  const draft = `SELECT count(*) FROM ${max === undefined ? from : `(SELECT FROM ${from} LIMIT ${max}) AS found`}`;
  // The plan of a search depends on its words.
  const { name, text } =
    selection.words.length === 0
      ? statementOf(table, draft)
      : { name: undefined, text: expandKeys(draft, table.keyForm) };
  const { rows } = await session.read({ name, text, values: parameters.values });
  return Number(rows[0]?.[0]);
}
