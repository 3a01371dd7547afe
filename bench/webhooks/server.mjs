// One receiver in a separate process: `node server.mjs ours|octokit`. Says its port; answers
// "cpu" and "memory" with what it used.
import { createServer } from "node:http";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const options = { secret: "mysecret", log: quiet };

async function createListener(name) {
  if (name === "ours") {
    const { createNodeMiddleware, Webhooks } =
      await import("../../packages/webhooks/dist/index.js");
    const { github } = await import("../../packages/webhooks/dist/vendors/index.js");
    const webhooks = new Webhooks({ ...options, vendor: github });
    webhooks.on("issues.opened", () => undefined);
    return createNodeMiddleware(webhooks);
  }
  const { createNodeMiddleware, Webhooks } = await import("@octokit/webhooks");
  const webhooks = new Webhooks(options);
  webhooks.on("issues.opened", () => undefined);
  return createNodeMiddleware(webhooks, { log: quiet });
}

const listener = await createListener(process.argv[2]);
const server = createServer((request, response) => void listener(request, response));
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("message", (asked) => {
  // The peak is in kibibytes.
  const peak = (process.resourceUsage().maxRSS * 1024) / 1e6;
  process.send(asked === "memory" ? { peak } : { cpu: process.cpuUsage() });
});
