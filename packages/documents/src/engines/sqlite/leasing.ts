import { randomUUID } from "node:crypto";
import { DocumentsError } from "../../api/errors.ts";
import type { Lease } from "../../api/lease.ts";
import type { ParsedQuery } from "../../query/parse-query.ts";
import { LEASES } from "./layout.ts";
import { whereSql } from "./reading.ts";
import { toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Expressions } from "./sql.ts";
import type { Table } from "./table.ts";

/** Claims documents that nobody holds a lease of. */
export function claimMatching<T>(
  session: Session,
  table: Table,
  { query, expiry }: { readonly query: ParsedQuery; readonly expiry: number },
): readonly Lease<T>[] {
  const { connection } = session;
  const { name } = table.definition;
  const now = Date.now();
  const sql = new Expressions(table.indexed);
  const where = whereSql(table, query, sql);
  const free =
    `NOT EXISTS (SELECT 1 FROM ${LEASES} AS held WHERE held.collection = ${sql.bind(name)} ` +
    `AND held.id = ${table.quoted}.id AND held.until > ${sql.bind(now)})`;
  const rows = connection.all(
    `SELECT ${table.columns} FROM ${table.quoted}${where}${where === "" ? " WHERE" : " AND"} ${free} ` +
      `ORDER BY ${sql.order(query.order)} LIMIT ${sql.bind(query.limit ?? 1)}`,
    sql.parameters,
  );
  return rows.map((row) => {
    const document = toStored<T>(table, row);
    const token = randomUUID();
    const attempt = connection.get(
      `INSERT INTO ${LEASES} (collection, id, token, until, attempt) VALUES (?, ?, ?, ?, 1) ` +
        "ON CONFLICT DO UPDATE SET token = excluded.token, until = excluded.until, " +
        "attempt = attempt + 1 RETURNING attempt",
      [name, document.id, token, now + expiry],
    )?.[0];
    const until = new Date(now + expiry).toISOString();
    return { document, token, until, attempt: Number(attempt) };
  });
}

/** Which lease of which document. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

/** Extends a lease that is still held. */
export function renewLease(
  { connection }: Session,
  table: Table,
  { id, token, expiry }: Held & { readonly expiry: number },
): boolean {
  const now = Date.now();
  return (
    connection.run(
      `UPDATE ${LEASES} SET until = ? WHERE collection = ? AND id = ? AND token = ? AND until > ?`,
      [now + expiry, table.definition.name, id, token, now],
    ) === 1
  );
}

/** Gives up a lease that is still held. */
export function releaseLease({ connection }: Session, table: Table, { id, token }: Held): boolean {
  return (
    connection.run(
      `DELETE FROM ${LEASES} WHERE collection = ? AND id = ? AND token = ? AND until > ?`,
      [table.definition.name, id, token, Date.now()],
    ) === 1
  );
}

/** Refuses a change by somebody whose lease is over. */
export function checkLease({ connection }: Session, table: Table, { id, token }: Held): void {
  const held = connection.get(
    `SELECT 1 FROM ${LEASES} WHERE collection = ? AND id = ? AND token = ? AND until > ?`,
    [table.definition.name, id, token, Date.now()],
  );
  if (held !== undefined) return;
  throw new DocumentsError(
    "ERR_DOCUMENTS_LEASE",
    `The lease of the document of "${table.definition.name}" is over`,
  );
}
