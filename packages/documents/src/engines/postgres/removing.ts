import { VersionError } from "../../api/errors.ts";
import type { Filter } from "../../query/filter.ts";
import { isPossibleId, type Target } from "../../query/targets.ts";
import { checkHeld, heldSql } from "./leasing.ts";
import { visibleTerms, whereSql } from "./reading.ts";
import { makeChange } from "./recording.ts";
import { DOCUMENT_COLUMNS } from "./row.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** Removes a document. */
export async function removeOne(session: Session, table: Table, target: Target): Promise<boolean> {
  if (!isPossibleId(target.id)) return false;
  const { ifVersion } = target;
  for (;;) {
    const parameters = new Parameters();
    const terms = [`id = ${parameters.bind(target.id, "text")}`];
    terms.push(...visibleTerms(table, "exclude", parameters));
    if (ifVersion !== undefined) {
      terms.push(`version = ${parameters.bind(String(ifVersion), "bigint")}`);
    }
    const where = ` WHERE ${terms.join(" AND ")}${heldSql(target, parameters)}`;
    if ((await removeWhere(session, table, { where, parameters })) > 0) return true;
    if (ifVersion === undefined && target.lease === undefined) return false;
    const reading = new Parameters();
    const seen = [`id = ${reading.bind(target.id, "text")}`];
    seen.push(...visibleTerms(table, "exclude", reading));
    const { rows } = await session.read({
      text:
        `SELECT ${DOCUMENT_COLUMNS}, lease_token, lease_until FROM ${table.quoted} ` +
        `WHERE ${seen.join(" AND ")}`,
      values: reading.values,
    });
    const [row] = rows;
    if (row === undefined) return false;
    checkVersion(table, target, Number(row[1]));
    checkHeld(table, target, row);
  }
}

/** Removes the documents that a filter matches. */
export async function removeMatching(
  session: Session,
  table: Table,
  filter: Filter,
): Promise<number> {
  const parameters = new Parameters();
  const where = whereSql(table, { filter, words: [], deleted: "exclude" }, parameters);
  return removeWhere(session, table, { where, parameters });
}

async function removeWhere(
  session: Session,
  table: Table,
  { where, parameters }: { readonly where: string; readonly parameters: Parameters },
): Promise<number> {
  const at = session.stamps.now();
  const now = table.softDelete ? parameters.bind(at, "text") : "";
  const text = table.softDelete
    ? `UPDATE ${table.quoted} SET version = version + 1, updated_at = ${now}, deleted_at = ${now}`
    : `DELETE FROM ${table.quoted}`;
  const change = { text: text + where, kind: "remove", parameters, at } as const;
  const { count } = await makeChange(session, table, change, { drop: "all" });
  return count;
}

/** Removes removed documents for good: one of them, or those that a filter matches. */
export async function purge(
  session: Session,
  table: Table,
  {
    id,
    filter,
    deletedBefore,
  }: {
    readonly id?: string;
    readonly filter?: Filter | undefined;
    readonly deletedBefore?: string | undefined;
  },
): Promise<number> {
  if (id !== undefined && !isPossibleId(id)) return 0;
  const parameters = new Parameters();
  const where = whereSql(table, { filter, words: [], deleted: "only" }, parameters);
  const terms = [where];
  if (id !== undefined) terms.push(`id = ${parameters.bind(id, "text")}`);
  if (deletedBefore !== undefined) {
    terms.push(`deleted_at < ${parameters.bind(deletedBefore, "text")}`);
  }
  const { count } = await makeChange(session, table, {
    text: `DELETE FROM ${table.quoted}${terms.join(" AND ")}`,
    kind: "purge",
    parameters,
    at: session.stamps.now(),
  });
  return count;
}

/** Refuses a change of another version than the one that is meant. */
export function checkVersion(table: Table, { ifVersion }: Target, current: number): void {
  if (ifVersion !== undefined && ifVersion !== current) {
    throw new VersionError(table.definition.name, { current, expected: ifVersion });
  }
}
