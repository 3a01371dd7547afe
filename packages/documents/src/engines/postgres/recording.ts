import type { ChangeKind } from "../../api/changes.ts";
import { changeDistributed, type ClaimChange } from "./distributed-change.ts";
import { CHANGES } from "./own-tables.ts";
import type { Result } from "./row-query.ts";
import type { Session } from "./session.ts";
import { type Parameters, quoteText, type Statement } from "./sql.ts";
import type { Table } from "./table.ts";

/** A statement that changes rows, and what it means. */
export interface ChangeStatement {
  /** Set when the server shall keep the statement prepared. */
  readonly name?: string | undefined;
  /** The statement, without RETURNING. */
  readonly text: string;
  readonly kind: ChangeKind;
  readonly parameters: Parameters;
  /** The columns of the rows to give back. Default: none, only their number. */
  readonly returning?: string | undefined;
  /** The time of the change. */
  readonly at: string;
}

/**
 * Makes a change, which also writes to the feed when the definition says so. What it means for the
 * claims of unique fields matters in a distributed store only.
 */
export function makeChange(
  session: Session,
  table: Table,
  change: ChangeStatement,
  claims: ClaimChange = {},
): Promise<Result> {
  return table.isDistributed
    ? changeDistributed(session, table, { change, claims })
    : session.write(changeStatement(table, change));
}

function changeStatement(table: Table, change: ChangeStatement): Statement {
  const { text, kind, parameters, returning, at } = change;
  const { changes, name } = table.definition;
  const named = change.name === undefined ? undefined : `${table.hash}:${change.name}`;
  if (changes === undefined) {
    const back = returning === undefined ? "" : ` RETURNING ${returning}`;
    return { name: named, text: text + back, values: parameters.values };
  }
  const isKept = kind !== "purge" && (kind !== "remove" || table.softDelete);
  const doc = changes === "documents" && isKept ? "doc" : "NULL::jsonb";
  return {
    name: named,
    text:
      `WITH changed AS (${text} RETURNING id, version, created_at, updated_at, doc, deleted_at), ` +
      `recorded AS (INSERT INTO ${CHANGES} (collection, id, kind, version, at, doc) ` +
      `SELECT ${quoteText(name)}, id, ${quoteText(kind)}, version, ` +
      `${parameters.bind(at, "text")}, ${doc} FROM changed) ` +
      `SELECT ${returning ?? "id"} FROM changed`,
    values: parameters.values,
  };
}
