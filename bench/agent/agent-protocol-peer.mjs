// The published SDK with an agent that does nothing, in a separate process.
import { createServer } from "node:net";
import { createRequire } from "node:module";

const { default: Agent } = createRequire(import.meta.url)("agent-protocol");
const free = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => free.once("listening", resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));

// It prints a line for every request.
console.log = () => undefined;
const step = (input) => () => Promise.resolve({ output: input, is_last: true });
Agent.handleTask((input) => Promise.resolve(step(input)), {
  port,
  workspace: process.argv[2],
}).start();
const answers = async () => {
  const response = await fetch(`http://127.0.0.1:${port}/ap/v1/agent/tasks`).catch(() => undefined);
  return response?.ok === true;
};
while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 20));
process.send({ port });
process.on("message", () => process.send({ cpu: process.cpuUsage() }));
