import { DocumentsError, type Store, type Transaction } from "@fetchwork/documents";
import type { Call } from "../resource/call.ts";

/**
 * Runs changes together: as part of the transaction of a call, or of a separate one. The store of
 * the call that the changes get is part of that transaction too.
 *
 * Work that the changes put off until the commit is done after the commit. The store may run the
 * changes again when they conflict with another transaction.
 */
export async function runTogether<C extends Call, R>(
  call: C,
  work: (joined: C, transaction: Transaction) => Promise<R>,
): Promise<R> {
  if (call.transaction) return work(call, call.transaction);
  const following: (() => Promise<void>)[] = [];
  let last: Transaction | undefined;
  let refusal: R | undefined;
  const running = call.store.transaction(async (transaction) => {
    last = transaction;
    refusal = undefined;
    following.length = 0;
    const afterCommit = (one: () => Promise<void>): void => void following.push(one);
    const result = await work({ ...joinCall(call, transaction), afterCommit }, transaction);
    if (!failures.has(transaction)) return result;
    if (result instanceof Response && result.status >= 400) refusal = result;
    throw failures.get(transaction);
  });
  const result = await running.catch((error: unknown) => {
    if (refusal === undefined) throw error;
    following.length = 0;
    return refusal;
  });
  if (last !== undefined) committed.add(last);
  for (const one of following) await one();
  return result;
}

/** Makes a call whose store and services are part of a transaction, until that is over. */
export function joinCall<C extends Call>(call: C, transaction: Transaction): C {
  const services = call.servicesIn?.(() => (committed.has(transaction) ? undefined : transaction));
  return { ...call, ...services, transaction, store: joinStore(call.store, transaction) };
}

/** Errors that ended a transaction inside another one, which then undoes all of its changes. */
const failures = new WeakMap<Transaction, unknown>();

/** Transactions that are over: the store of a call that joined one is the store around it again. */
const committed = new WeakSet<Transaction>();

/**
 * Makes a store whose reads, changes and transactions are all part of one transaction. Handlers
 * need not know of it.
 */
function joinStore(store: Store, transaction: Transaction): Store {
  const joined: Pick<Store, "collection" | "transaction"> = {
    collection: (definition) => transaction.collection(definition),
    // It ends with the outer one; the time is that one's too.
    transaction: async (work) => {
      try {
        return await work(transaction);
      } catch (error) {
        failures.set(transaction, error);
        throw error;
      }
    },
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      // A service is known by the store around all transactions.
      if (name === Symbol.for("fetchwork.store")) return value ?? target;
      if (!committed.has(transaction)) {
        if (name === "collection" || name === "transaction") return joined[name];
        if (name === "close") return refuseToClose;
      }
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function refuseToClose(): Promise<never> {
  const message = "a store cannot be closed inside a transaction";
  return Promise.reject(new DocumentsError("ERR_DOCUMENTS_TRANSACTION", message));
}
