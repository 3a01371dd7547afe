// The task API with an agent that does nothing, in a separate process.
import { defineAgent, serveTasks } from "../../packages/agent/src/server/index.ts";

const agent = defineAgent({
  onTask: () => [{ name: "echo", last: true }],
  onStep: ({ task }) => Promise.resolve({ output: task.input }),
});
const [, , store = "sqlite::memory:"] = process.argv;
const server = await serveTasks({ port: 0, store, agent });
process.send({ port: server.port });
process.on("message", () => process.send({ cpu: process.cpuUsage() }));
