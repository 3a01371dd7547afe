// A sender in a separate process: `node sender.mjs <URL of the store>`. Answers each message when
// its task is done.
import { setTimeout } from "node:timers/promises";
import { openStore } from "../../packages/documents/dist/index.js";
import { createSender } from "../../packages/webhooks/dist/node/sender/index.js";

const endpoints = 1_000;
const bad = 300;

const store = await openStore(process.argv[2]);
let delivered = 0;
let onDelivered = () => undefined;
const sender = createSender({
  store,
  allowHttp: true,
  allowPrivate: true,
  onAttempt: () => {
    delivered += 1;
    onDelivered();
  },
});
const tasks = { prepare, send, neighbours };
process.on("message", ({ task, ...input }) => {
  void tasks[task](input).then((result) => process.send(result ?? {}));
});
process.on("disconnect", () => process.exit());

async function prepare({ amount, good }) {
  await sender.endpoints.create({ url: good, events: ["paid"] });
  let left = amount;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (left-- > 0) await sender.endpoints.create({ url: good, events: ["other"] });
    }),
  );
  sender.start();
}

/** Sends events, 16 at a time; the CPU time is that until the last one is delivered. */
async function send({ events }) {
  delivered = 0;
  const before = process.cpuUsage();
  const done = new Promise((resolve) => {
    onDelivered = () => delivered === events && resolve();
  });
  let left = events;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left-- > 0) await sender.send({ name: "paid", payload: { action: "now", total: 12 } });
    }),
  );
  await done;
  const { user, system } = process.cpuUsage(before);
  return { cpu: user + system };
}

async function neighbours({ good, bad: urls, isQuiet }) {
  for (let index = 0; index < endpoints; index += 1) {
    const url = index < bad ? urls[index % urls.length] : good;
    await sender.endpoints.create({ url, tenant: `${index}` });
  }
  sender.start();
  for (let count = 0; count < endpoints * 2; count += 1) {
    const index = (count * 37) % endpoints;
    if (index < bad && isQuiet) continue;
    const payload = { sentAt: `${process.hrtime.bigint()}` };
    await sender.send({ name: "order", payload, tenant: `${index}` });
    await setTimeout(5);
  }
}
