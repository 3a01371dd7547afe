// Measures what an event costs a sender of webhooks, and what it costs endpoints that are well when
// others are not.
//
//   npm run webhooks-sender -- [rounds]          (after `npm run build` in the root)
//
// Each sender is a separate process, and so are the receivers.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { noPostgres, startPostgres } from "../../packages/documents/test/postgres-server.ts";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";

const events = 500;
const amounts = { "100,000 endpoints": 100_000, "1,000 endpoints": 1_000, "10 endpoints": 10 };

const part = new Part("webhooks-sender");
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-sender-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const receiver = start("receiver.mjs", []);
const { good, bad } = await receiver.heard;

await part.attempt("SQLite", () =>
  compareAmounts("SQLite", (name) => `sqlite:${path.join(folder, `${parseInt(name)}.db`)}`),
);
if (noPostgres === undefined) await part.attempt("PostgreSQL", comparePostgres);
else part.leaveOut("PostgreSQL", noPostgres);
await part.attempt("bad neighbours", compareNeighbours);
part.close();

async function comparePostgres() {
  const server = await startPostgres([]);
  try {
    const urls = new Map();
    for (const name of Object.keys(amounts)) urls.set(name, await server.create());
    await compareAmounts("PostgreSQL", (name) => urls.get(name));
  } finally {
    await server.stop();
  }
}

/** One endpoint wants the events, and more and more others want another one. */
async function compareAmounts(group, urlOf) {
  const senders = {};
  for (const [name, amount] of Object.entries(amounts)) {
    senders[name] = start("sender.mjs", [urlOf(name)]);
    await senders[name].ask({ task: "prepare", amount, good });
  }
  const names = Object.keys(amounts);
  const measure = async (name) => {
    const { cpu } = await senders[name].ask({ task: "send", events });
    return { value: cpu / events };
  };
  await part.compare(
    { group, work: "one event to one endpoint", unit: "CPU µs", own: names.slice(0, 1) },
    { names, measure, seconds: 60, warmUp: 2 },
  );
  for (const { child } of Object.values(senders)) child.disconnect();
}

/** Two events to each of 1,000 endpoints, of which 300 hang, drip, fail, or get nothing. */
async function compareNeighbours() {
  const names = ["300 are bad", "none is bad"];
  const measure = async (name) => {
    const sender = start("sender.mjs", ["sqlite::memory:"]);
    await receiver.ask({ task: "forget" });
    await sender.ask({ task: "neighbours", good, bad, isQuiet: name === names[1] });
    const { delays } = await receiver.ask({ task: "delays", least: 1_400 });
    sender.child.disconnect();
    const sorted = delays.toSorted((one, other) => one - other);
    return { value: sorted[Math.floor(sorted.length * 0.99)] };
  };
  await part.compare(
    { group: "Bad neighbours", work: "p99 of 700 healthy endpoints", unit: "ms", own: [names[0]] },
    { names, measure, seconds: 240, warmUp: 1, least: 3 },
  );
}

/** Starts a process that answers each message with one. */
function start(script, args) {
  const child = endWithUs(fork(path.join(import.meta.dirname, script), args));
  const next = () => new Promise((resolve) => child.once("message", resolve));
  const ask = (message) => {
    child.send(message);
    return next();
  };
  return { child, ask, heard: next() };
}
