import { DocumentsError, type Store, type Transaction } from "@fetchwork/documents";

/**
 * Makes a store whose reads, changes and transactions are all part of one transaction, for handlers that know nothing
 * of it.
 */
export function joinStore(store: Store, transaction: Transaction): Store {
  const joined: Pick<Store, "collection" | "transaction"> = {
    collection: (definition) => transaction.collection(definition),
    // It ends with the outer one; the time is that one's too.
    transaction: async (work) => work(transaction),
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "collection" || name === "transaction") return joined[name];
      if (name === "close") return refuseToClose;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function refuseToClose(): Promise<never> {
  const message = "a store cannot be closed inside a transaction";
  return Promise.reject(new DocumentsError("ERR_DOCUMENTS_TRANSACTION", message));
}
