// A process that sells, and sends an event with each order; killed by the tests. Arguments: the
// store's URL, how many orders.
import { setTimeout } from "node:timers/promises";
import { openStore } from "@fetchwork/documents";
import { createSender } from "@fetchwork/webhooks/sender";
import { orders } from "./ledger.ts";

const [url = "", total = "0"] = process.argv.slice(2);
const store = await openStore(url, { busyTimeout: 15_000, collections: [orders] });
const sender = createSender({
  store,
  allowHttp: true,
  allowPrivate: true,
  pollInterval: 20,
  timeout: 1_000,
  lease: 1_500,
  retry: { firstDelay: 20, factor: 1.5, maxDelay: 200 },
  disableAfter: 600_000,
  onError: () => undefined,
});
sender.start();
console.log("selling");
const count = (): Promise<number> => store.collection(orders).count();
for (let sold = await count(); sold < Number(total); sold = await count()) {
  const selling = store.transaction(async (transaction) => {
    for (let n = 0; n < 20; n += 1) {
      const order = {
        account: `account-${Math.floor(Math.random() * 50)}`,
        cents: Math.floor(Math.random() * 100_000) - 50_000,
      };
      const { id } = await transaction.collection(orders).insert(order);
      await sender.send({ id, name: "order.paid", payload: order }, { transaction });
    }
  });
  // On a busy machine a transaction may be rolled back.
  await selling.catch(() => undefined);
  await setTimeout(20);
}
