// Receives the webhooks of the soak and books each of them in a separate store. Arguments: the
// store's URL, port, secret.
import { createServer } from "node:http";
import { openStore } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { createNodeMiddleware } from "@fetchwork/webhooks";
import { createInbox } from "@fetchwork/webhooks/inbox";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { effects } from "./effects.ts";

const [url = "", port = "0", secret = ""] = process.argv.slice(2);
const store = await openStore(url, { collections: [effects] });
const inbox = createInbox({
  store,
  secret,
  vendor: fetchwork,
  pollInterval: 20,
  lease: 2_000,
  backoff: { baseDelay: 20, maxDelay: 500 },
  retries: 1_000,
  log: { warn: () => undefined, error: () => undefined },
});
inbox.onAny(async ({ id, payload }, { transaction }) => {
  const note = payload["note"];
  const about = isObject(note) ? note["id"] : payload["reference"];
  const action = typeof payload["action"] === "string" ? payload["action"] : "made";
  await transaction.collection(effects).insert({ event: id, action, about: String(about) });
  // What was written is undone then.
  if (Math.random() < 0.02) throw new Error("a fault of the soak");
});
inbox.start();
const receive = createNodeMiddleware(inbox, { path: "/hooks" });
const server = createServer((request, response) => void receive(request, response));
server.listen(Number(port), "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void inbox.stop().then(() => store.close());
});
