// A server of tasks in a separate process, for tests that end it: `node tasks-process.ts <store>
// <model's URL>`.
import { openAICompatible } from "../../src/models/http-providers.ts";
import { serveTasks } from "../../src/server/serve-tasks.ts";

const [, , store = "", baseUrl = ""] = process.argv;
const server = await serveTasks({
  port: 0,
  store,
  provider: openAICompatible({ baseUrl, model: "scripted" }),
  lease: 4_000,
});
process.stdout.write(`${server.url}\n`);
