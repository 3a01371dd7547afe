import { type Claim, dropAllClaims, dropClaims, takeClaims } from "./claims.ts";
import { CHANGES, FEED_END } from "./own-tables.ts";
import type { ChangeStatement } from "./recording.ts";
import type { Result, Row } from "./row-query.ts";
import { DOCUMENT_COLUMNS } from "./row.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";

/** What a change means for the claims of the documents that it changes. */
export interface ClaimChange {
  /** What is given up: everything, or the claims of one document. Default: nothing. */
  readonly drop?: readonly Claim[] | "all" | undefined;
  /** What is taken. Default: nothing. */
  readonly take?: readonly Claim[] | undefined;
}

/**
 * Makes a change of a distributed store: of the documents, of their claims and of the feed one
 * statement after the other, because a statement over tables that are spread in different ways is
 * not for every system.
 */
export async function changeDistributed(
  session: Session,
  table: Table,
  { change, claims }: { readonly change: ChangeStatement; readonly claims: ClaimChange },
): Promise<Result> {
  const named = (suffix: string): string | undefined =>
    change.name === undefined ? undefined : `${table.hash}:${change.name}${suffix}`;
  const { values } = change.parameters;
  const { drop = [], take = [] } = claims;
  const isAlone = take.length === 0 && (drop.length === 0 || table.claimed.length === 0);
  const isFed = table.definition.changes !== undefined;
  if (isAlone && !isFed) {
    const back = change.returning === undefined ? "" : ` RETURNING ${change.returning}`;
    return session.write({ name: named(""), text: change.text + back, values });
  }
  return session.together(async (own) => {
    const text = `${change.text} RETURNING ${DOCUMENT_COLUMNS}`;
    const result = await own.write({ name: named(":claims"), text, values });
    if (result.rows.length === 0) return result;
    if (drop === "all") await dropAllClaims(own, table, idsOf(result.rows));
    else await dropClaims(own, table, drop);
    await takeClaims(own, table, take);
    if (isFed) own.beforeCommit((last) => record(last, table, { change, rows: result.rows }));
    return result;
  });
}

/**
 * Writes to the feed. Who draws the next positions holds the row with the last one until the commit,
 * so positions are in the order of the commits, and none is ever missing.
 */
async function record(
  session: Session,
  table: Table,
  { change, rows }: { readonly change: ChangeStatement; readonly rows: readonly Row[] },
): Promise<void> {
  const { kind, at } = change;
  const isKept = kind !== "purge" && (kind !== "remove" || table.softDelete);
  const isWhole = table.definition.changes === "documents" && isKept;
  const drawn = await session.write({
    name: "fetchwork:draw",
    text: `UPDATE ${FEED_END} SET position = position + $1::bigint RETURNING position`,
    values: [rows.length],
  });
  const first = Number(drawn.rows[0]?.[0]) - rows.length + 1;
  await session.write({
    name: "fetchwork:record",
    text:
      `INSERT INTO ${CHANGES} (position, collection, id, kind, version, at, doc) ` +
      "SELECT position, $1, id, $2, version, $3, doc::jsonb " +
      "FROM unnest($4::bigint[], $5::text[], $6::bigint[], $7::text[]) " +
      "AS recorded (position, id, version, doc)",
    values: [
      table.definition.name,
      kind,
      at,
      rows.map((_row, index) => String(first + index)),
      idsOf(rows),
      rows.map(([, version = null]) => version),
      rows.map((row) => (isWhole ? (row[4] ?? null) : null)),
    ],
  });
}

function idsOf(rows: readonly Row[]): readonly (string | null)[] {
  return rows.map(([id = null]) => id);
}
