import type { HeldLock } from "../../leases/hold-lock.ts";
import type { Connection } from "./connection.ts";
import { LOCKS } from "./layout.ts";

/** Takes a lock that is free or whose holder stopped; tells whether it was. */
export function takeLock(
  connection: Connection,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): boolean {
  const now = Date.now();
  return (
    connection.run(
      `INSERT INTO ${LOCKS} (name, token, until) VALUES (?, ?, ?) ` +
        "ON CONFLICT DO UPDATE SET token = excluded.token, until = excluded.until WHERE until <= ?",
      [name, token, now + expiry, now],
    ) === 1
  );
}

/** Extends a lock; tells whether it was still held. */
export function renewLock(
  connection: Connection,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): boolean {
  const now = Date.now();
  return (
    connection.run(`UPDATE ${LOCKS} SET until = ? WHERE name = ? AND token = ? AND until > ?`, [
      now + expiry,
      name,
      token,
      now,
    ]) === 1
  );
}

/** Gives a lock up. */
export function dropLock(connection: Connection, { name, token }: HeldLock): void {
  connection.run(`DELETE FROM ${LOCKS} WHERE name = ? AND token = ?`, [name, token]);
}
