// A process that writes down what it gets before it answers; killed by the tests. Arguments: port,
// file.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@fetchwork/webhooks";
import { fetchwork } from "@fetchwork/webhooks/vendors";

const [port = "0", file = "", secret = ""] = process.argv.slice(2);
const webhooks = new Webhooks({ secret, vendor: fetchwork });
webhooks.onAny(({ id }) => {
  appendFileSync(file, `${id}\n`);
});
const receive = createNodeMiddleware(webhooks, { path: "/hooks" });
const server = createServer((request, response) => void receive(request, response));
server.listen(Number(port), "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});
