import type { HeldLock } from "../../leases/hold-lock.ts";
import type { StatementWriter } from "../dialect.ts";
import type { Operation } from "../operation.ts";
import { locksTable } from "../own-tables.ts";

/** Takes a lock that is free or whose holder stopped; returns whether it was free. */
export function* takeLock(
  sql: StatementWriter,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): Operation<boolean> {
  const now = Date.now();
  const { count } = yield sql.write(
    `INSERT INTO ${locksTable} AS held (name, token, until) VALUES (${sql.bind(name, "text")}, ` +
      `${sql.bind(token, "text")}, ${sql.bind(now + expiry, "bigint")}) ` +
      "ON CONFLICT (name) DO UPDATE SET token = excluded.token, until = excluded.until " +
      `WHERE held.until <= ${sql.bind(now, "bigint")}`,
  );
  return count === 1;
}

/** Extends a lock; returns whether it was still held. */
export function* renewLock(
  sql: StatementWriter,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): Operation<boolean> {
  const now = Date.now();
  const { count } = yield sql.write(
    `UPDATE ${locksTable} SET until = ${sql.bind(now + expiry, "bigint")} ` +
      `WHERE name = ${sql.bind(name, "text")} AND token = ${sql.bind(token, "text")} ` +
      `AND until > ${sql.bind(now, "bigint")}`,
  );
  return count === 1;
}

/** Releases a lock. */
export function* releaseLock(sql: StatementWriter, { name, token }: HeldLock): Operation<void> {
  yield sql.write(
    `DELETE FROM ${locksTable} WHERE name = ${sql.bind(name, "text")} ` +
      `AND token = ${sql.bind(token, "text")}`,
  );
}
