import type { Transaction } from "@fetchwork/documents";
import type { Call } from "../resource/call.ts";
import { joinStore } from "./joined-store.ts";

/**
 * Runs changes together: as part of the transaction of a call, or of one of its own. The call that they get has a store
 * that is part of it too.
 *
 * What they put off until the commit is done after it. The store may run them again when another transaction was in their
 * way.
 */
export async function runTogether<C extends Call, R>(
  call: C,
  work: (joined: C, transaction: Transaction) => Promise<R>,
): Promise<R> {
  if (call.transaction) return work(call, call.transaction);
  const following: (() => Promise<void>)[] = [];
  const result = await call.store.transaction((transaction) => {
    following.length = 0;
    const store = joinStore(call.store, transaction);
    const afterCommit = (one: () => Promise<void>): void => void following.push(one);
    return work({ ...call, transaction, store, afterCommit }, transaction);
  });
  for (const one of following) await one();
  return result;
}
