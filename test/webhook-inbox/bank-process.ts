// A process that books what it receives; killed by the tests. Arguments: the store's URL, port,
// secret.
import { createServer } from "node:http";
import { openStore } from "@fetchwork/documents";
import { createNodeMiddleware } from "@fetchwork/webhooks";
import { createInbox } from "@fetchwork/webhooks/inbox";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { accounts } from "./ledger.ts";

const [url = "", port = "0", secret = ""] = process.argv.slice(2);
const store = await openStore(url, { busyTimeout: 15_000, collections: [accounts] });
const inbox = createInbox({
  store,
  secret,
  vendor: fetchwork,
  lease: 1_000,
  pollInterval: 20,
  backoff: { baseDelay: 5, maxDelay: 100 },
  retries: 1_000,
  log: { warn: () => undefined, error: () => undefined },
  key: ({ payload }) => String(payload["account"]),
});
inbox.on("order.paid", async ({ id, payload }, { transaction }) => {
  const account = String(payload["account"]);
  const booked = transaction.collection(accounts);
  const { cents = 0, events = [] } = (await booked.get(account)) ?? {};
  const next = { cents: cents + Number(payload["cents"]), events: [...events, id] };
  if (events.length === 0) await booked.insert(next, { id: account });
  else await booked.replace(account, next);
  // What was written is undone then.
  if (Math.random() < 0.05) throw new Error("a fault of the test");
});
inbox.start();
const receive = createNodeMiddleware(inbox, { path: "/hooks" });
const server = createServer((request, response) => void receive(request, response));
server.listen(Number(port), "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});
