import type { HeldLock, LockTable } from "../../leases/hold-lock.ts";
import { LOCKS } from "./own-tables.ts";
import type { Session } from "./session.ts";

/** Takes a lock that is free or whose holder stopped; tells whether it was. */
export async function takeLock(
  session: Session,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): Promise<boolean> {
  const now = Date.now();
  const { count } = await session.write({
    text:
      `INSERT INTO ${LOCKS} AS held (name, token, until) VALUES ($1, $2, $3) ` +
      "ON CONFLICT (name) DO UPDATE SET token = excluded.token, until = excluded.until " +
      "WHERE held.until <= $4",
    values: [name.replaceAll("\0", "\ufffd"), token, String(now + expiry), String(now)],
  });
  return count === 1;
}

/** Extends a lock; tells whether it was still held. */
export async function renewLock(
  session: Session,
  { name, token, expiry }: HeldLock & { readonly expiry: number },
): Promise<boolean> {
  const now = Date.now();
  const { count } = await session.write({
    text: `UPDATE ${LOCKS} SET until = $1 WHERE name = $2 AND token = $3 AND until > $4`,
    values: [String(now + expiry), name.replaceAll("\0", "\ufffd"), token, String(now)],
  });
  return count === 1;
}

/** Gives a lock up. */
export async function dropLock(session: Session, { name, token }: HeldLock): Promise<void> {
  await session.write({
    text: `DELETE FROM ${LOCKS} WHERE name = $1 AND token = $2`,
    values: [name.replaceAll("\0", "\ufffd"), token],
  });
}

/** Gives the locks as a session reaches them. */
export function lockTable(session: Session): LockTable {
  return {
    takeLock: (lock) => takeLock(session, lock),
    renewLock: (lock) => renewLock(session, lock),
    dropLock: (lock) => dropLock(session, lock),
  };
}
