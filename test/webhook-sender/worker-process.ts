// A process that delivers what a store holds; killed by the tests. Arguments: the store's URL.
import { openStore } from "@fetchwork/documents";
import { createSender } from "@fetchwork/webhooks/sender";

const [url = ""] = process.argv.slice(2);
const store = await openStore(url);
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
