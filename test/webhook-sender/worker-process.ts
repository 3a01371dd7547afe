// A process that delivers what a store holds; killed by the tests. Arguments: the store's URL;
// `stuck` for one that stores the deliveries of its first event, and never commits.
import { openStore, type Store } from "@fetchwork/documents";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";

const [url = "", mode] = process.argv.slice(2);
const opened = await openStore(url, { busyTimeout: 15_000 });
const store = mode === "stuck" ? stuckAfterDeliveries(opened) : opened;
const sender = createSender({
  store,
  allowHttp: true,
  allowPrivate: true,
  pollInterval: 20,
  timeout: 1_000,
  lease: 1_500,
  retry: { firstDelay: 50, factor: 1.5, maxDelay: 500 },
});
sender.start();
process.on("SIGTERM", () => {
  void sender.stop().then(() => store.close());
});
console.log("working");

/** A store in which a transaction that stored deliveries never ends. */
function stuckAfterDeliveries(store: Store): Store {
  const transaction: Store["transaction"] = (work, options) =>
    store.transaction(async (inside) => {
      let hasDeliveries = false;
      const result = await work({
        collection: (definition) => {
          hasDeliveries ||= definition.name === senderCollections.deliveries.name;
          return inside.collection(definition);
        },
      });
      if (!hasDeliveries) return result;
      console.log("stuck");
      return new Promise<never>(() => undefined);
    }, options);
  return new Proxy(store, {
    get(target, name) {
      if (name === "transaction") return transaction;
      const method: unknown = Reflect.get(target, name);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}
