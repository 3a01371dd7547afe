import type { ServerResponse } from "node:http";
import { openStore } from "@fetchwork/documents";
import { createSender } from "@fetchwork/webhooks/sender";
import { expect, it } from "vitest";
import { startReceiver } from "./receiver.ts";

const tenants = 1_000;
const bad = 300;
const rounds = 2;

/** Receivers that never respond, that send a byte now and then, and that do either that or fail. */
const faults: readonly ((response: ServerResponse, number: number) => void)[] = [
  () => undefined,
  (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("x"), 500);
    response.on("close", () => clearInterval(timer));
  },
  (response, number) => {
    if (number % 2 === 0) response.writeHead(500).end();
  },
];

/**
 * Sends two events to each of 1,000 endpoints, 300 of which are bad or left out; returns the delays
 * of the others.
 */
async function delaysOfHealthy(neighbours: "bad" | "none"): Promise<readonly number[]> {
  const sent = new Map<string, number>();
  const delays: number[] = [];
  await using healthy = await startReceiver(({ id }, response) => {
    delays.push(performance.now() - (sent.get(id) ?? 0));
    response.end();
  });
  await using store = await openStore("sqlite::memory:");
  await using stack = new AsyncDisposableStack();
  const badUrls: string[] = [];
  for (const fault of faults) {
    const receiver = await startReceiver((_, response, number) => fault(response, number));
    stack.use(receiver);
    badUrls.push(receiver.url);
  }
  const sender = createSender({ store, allowHttp: true, allowPrivate: true });
  stack.defer(() => sender.stop({ grace: 0 }));
  for (let index = 0; index < tenants; index += 1) {
    const url = (index < bad ? badUrls[index % badUrls.length] : undefined) ?? healthy.url;
    await sender.endpoints.create({ url, tenant: `${index}` });
  }
  sender.start();
  for (let round = 0; round < rounds; round += 1) {
    for (let count = 0; count < tenants; count += 1) {
      const index = (count * 37) % tenants;
      if (index < bad && neighbours === "none") continue;
      const id = `${round}-${index}`;
      sent.set(id, performance.now());
      await sender.send({ id, name: "order", payload: {}, tenant: `${index}` });
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
  await healthy.until((tenants - bad) * rounds);
  return delays.toSorted((left, right) => left - right);
}

it(
  "300 endpoints of 1,000 that hang, drip or flap leave the others within twice their quiet p99",
  { timeout: 240_000 },
  async () => {
    const p99 = (delays: readonly number[]): number =>
      delays[Math.floor(delays.length * 0.99)] ?? 0;
    const measured: { readonly quiet: number; readonly beside: number }[] = [];
    // What is over 50 ms is due to the machine; the places of endpoints that hang are free after 15
    // s only.
    const isWithin = (): boolean =>
      measured.some(({ quiet, beside }) => beside < Math.max(50, 2 * quiet));
    // Other tests may need the processors for a while: what the bad endpoints cost, they cost each
    // time.
    while (measured.length < 3 && !isWithin()) {
      const quiet = p99(await delaysOfHealthy("none"));
      measured.push({ quiet, beside: p99(await delaysOfHealthy("bad")) });
    }
    expect({ measured, isWithin: isWithin() }).toEqual({ measured, isWithin: true });
  },
);

it.each(["has responded before", "is new"])(
  "1,000 endpoints that hang leave room: one that %s is told within 2 s",
  { timeout: 120_000 },
  async (kind) => {
    await using dead = await startReceiver(() => undefined);
    await using live = await startReceiver();
    await using store = await openStore("sqlite::memory:");
    const sender = createSender({ store, allowHttp: true, allowPrivate: true });
    try {
      sender.start();
      for (let index = 0; index < tenants; index += 1) {
        await sender.endpoints.create({ url: `${dead.url}/${index}`, events: ["dead"] });
      }
      await sender.endpoints.create({ url: live.url, events: ["live"] });
      if (kind !== "is new") {
        await sender.send({ name: "live", payload: {} });
        await live.until(1);
      }
      for (let index = 0; index < 3; index += 1) await sender.send({ name: "dead", payload: {} });
      await dead.until(100);
      const arrived = live.arrived.length;
      const begun = performance.now();
      await sender.send({ name: "live", payload: {} });
      await live.until(arrived + 1);
      expect(performance.now() - begun).toBeLessThan(2_000);
    } finally {
      await sender.stop({ grace: 0 });
    }
  },
);

it(
  "a burst of 3,000 events of one tenant delays those of another by at most 200 ms",
  { timeout: 120_000 },
  async () => {
    await using loud = await startReceiver();
    await using quiet = await startReceiver();
    await using store = await openStore("sqlite::memory:");
    await using sender = createSender({ store, allowHttp: true, allowPrivate: true });
    await sender.endpoints.create({ url: loud.url, tenant: "loud" });
    await sender.endpoints.create({ url: quiet.url, tenant: "quiet" });
    sender.start();
    const deliver = async (): Promise<number> => {
      const begun = performance.now();
      const arrived = quiet.arrived.length;
      await sender.send({ name: "order", payload: {}, tenant: "quiet" });
      await quiet.until(arrived + 1);
      return performance.now() - begun;
    };
    const alone = await medianOf(20, deliver);
    const burst = Array.from({ length: 3_000 }, () =>
      sender.send({ name: "order", payload: {}, tenant: "loud" }),
    );
    const during = await medianOf(20, deliver);
    await Promise.all(burst);
    const after = await medianOf(20, deliver);
    // The burst takes seconds: had it gone first, each of these would have waited for its end.
    expect(loud.arrived.length).toBeLessThan(3_000);
    await sender.stop({ grace: 0 });
    // On an idle machine alone is a few milliseconds.
    expect(during).toBeLessThan(4 * alone + 200);
    expect(after).toBeLessThan(4 * alone + 200);
  },
);

async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  for (let index = 0; index < count; index += 1) measured.push(await measure());
  return measured.toSorted((left, right) => left - right)[count / 2] ?? Infinity;
}
