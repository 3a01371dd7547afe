import { setTimeout } from "node:timers/promises";
import { openStore, type Store } from "@fetchwork/documents";
import {
  type AttemptReport,
  createSender,
  type Sender,
  senderCollections,
} from "@fetchwork/webhooks/sender";
import { expect, it, onTestFinished } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";

interface World {
  readonly store: Store;
  readonly receiver: Receiver;
  readonly reports: readonly AttemptReport[];
  /** What the endpoint says. */
  answer: number;
  makeSender(): Sender;
}

async function world(): Promise<World> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const reports: AttemptReport[] = [];
  const receiver = await startReceiver((_, response) => {
    response.writeHead(made.answer).end();
  });
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const made: World = {
    store,
    receiver,
    reports,
    answer: 500,
    makeSender() {
      const sender = createSender({
        store,
        allowHttp: true,
        allowPrivate: true,
        pollInterval: 20,
        retry: { firstDelay: 60_000 },
        onAttempt: (report) => reports.push(report),
      });
      onTestFinished(() => sender.stop({ grace: 0 }));
      return sender;
    },
  };
  return made;
}

async function sendMany(sender: Sender, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await sender.send({ name: "a", payload: {} });
}

/** Deliveries that are due, by whether an attempt was made. */
async function dueNow(store: Store): Promise<number> {
  const dueAt = { lte: new Date().toISOString() };
  const where = { status: "pending", dueAt } as const;
  return store.collection(senderCollections.deliveries).count({ where });
}

it("an endpoint that fails again and again gets no more attempts: what is due moves to the end of its pause", async () => {
  const { store, receiver, reports, makeSender } = await world();
  const sender = makeSender();
  await sender.endpoints.create({ url: receiver.url });
  await sendMany(sender, 300);
  sender.start();
  await expect.poll(async () => (await sender.deliveries({ limit: 1000 })).length).toBe(300);
  await expect.poll(() => dueNow(store), { timeout: 10_000 }).toBe(0);
  // Five failures in a row, and what was under way at the fifth.
  expect(reports.length).toBeGreaterThanOrEqual(5);
  expect(reports.length).toBeLessThan(20);
  const untried = await store
    .collection(senderCollections.deliveries)
    .count({ where: { attempts: 0, status: "pending" } });
  expect(untried).toBe(300 - reports.length);
});

it("a pause costs the same however many deliveries wait, and they are delivered after it", async () => {
  const all = await world();
  const { store, receiver, reports, makeSender } = all;
  const sender = makeSender();
  const { id: endpointId } = await sender.endpoints.create({ url: receiver.url });
  const events = store.collection(senderCollections.events);
  const deliveries = store.collection(senderCollections.deliveries);
  const stored = await events.insertMany(
    Array.from({ length: 1500 }, () => ({ name: "a", payload: "{}" })),
  );
  const [dueAt, expiresAt] = [0, 3_600_000].map((later) =>
    new Date(Date.now() + later).toISOString(),
  );
  await deliveries.insertMany(
    stored.map(({ id: eventId }) => ({
      eventId,
      eventName: "a",
      endpointId,
      status: "pending" as const,
      dueAt: dueAt ?? "",
      expiresAt: expiresAt ?? "",
      attempts: 0,
      history: [],
    })),
  );
  sender.start();
  const health = store.collection(senderCollections.health);
  await expect.poll(() => health.count(), { timeout: 10_000 }).toBe(1);
  await expect.poll(() => reports.length).toBeGreaterThanOrEqual(5);
  await setTimeout(300);
  const attempts = reports.length;
  expect(attempts).toBeLessThan(20);
  expect(await dueNow(store)).toBeGreaterThanOrEqual(1500 - 500 - attempts);
  // Another endpoint is not held up.
  const other = await startReceiver((_, response) => void response.end());
  onTestFinished(() => other[Symbol.asyncDispose]());
  const { id } = await sender.endpoints.create({ url: other.url });
  await sender.send({ name: "b", payload: {} });
  await expect
    .poll(async () => (await sender.deliveries({ endpointId: id }))[0]?.status)
    .toBe("delivered");
  expect(reports.filter((report) => report.endpointId === endpointId)).toHaveLength(attempts);
  all.answer = 200;
  await sender.endpoints.update(endpointId, { status: "enabled" });
  await expect
    .poll(() => deliveries.count({ where: { endpointId, status: "delivered" } }), {
      timeout: 20_000,
    })
    .toBeGreaterThanOrEqual(900);
}, 40_000);

it("a pause holds after a restart, for deliveries that come in the meantime too", async () => {
  const { store, receiver, reports, makeSender } = await world();
  const first = makeSender();
  await first.endpoints.create({ url: receiver.url });
  await sendMany(first, 20);
  first.start();
  await expect.poll(() => store.collection(senderCollections.health).count()).toBe(1);
  await expect.poll(async () => (await first.deliveries()).length).toBe(20);
  await expect.poll(() => dueNow(store), { timeout: 10_000 }).toBe(0);
  await first.stop({ grace: 0 });
  const before = reports.length;
  const second = makeSender();
  await sendMany(second, 10);
  second.start();
  await expect.poll(async () => (await second.deliveries()).length).toBe(30);
  await expect.poll(() => dueNow(store), { timeout: 10_000 }).toBe(0);
  expect(reports.length).toBe(before);
});

it.each([
  ["enabled", (sender: Sender, id: string) => sender.endpoints.update(id, { status: "enabled" })],
  [
    "moved",
    (sender: Sender, id: string, url: string) => sender.endpoints.update(id, { url: `${url}/new` }),
  ],
])("an endpoint that is %s is not paused any more", async (_, change) => {
  const all = await world();
  const { store, receiver, makeSender } = all;
  const sender = makeSender();
  const { id } = await sender.endpoints.create({ url: receiver.url });
  await sendMany(sender, 20);
  sender.start();
  await expect.poll(() => store.collection(senderCollections.health).count()).toBe(1);
  await expect.poll(async () => (await sender.deliveries()).length).toBe(20);
  await expect.poll(() => dueNow(store), { timeout: 10_000 }).toBe(0);
  all.answer = 200;
  await change(sender, id, receiver.url);
  const sent = await sender.send({ name: "a", payload: {} });
  await expect
    .poll(async () => (await sender.deliveries({ eventId: sent.id }))[0]?.status)
    .toBe("delivered");
  expect(await store.collection(senderCollections.health).count()).toBe(0);
});

it("an endpoint that is moved is not paused for failures of its old URL", async () => {
  const { store, makeSender } = await world();
  const held: (() => void)[] = [];
  const old = await startReceiver((_, response, number) => {
    if (number === 1) response.end();
    else held.push(() => response.writeHead(500).end());
  });
  onTestFinished(() => old[Symbol.asyncDispose]());
  const moved = await startReceiver();
  onTestFinished(() => moved[Symbol.asyncDispose]());
  const sender = makeSender();
  const { id } = await sender.endpoints.create({ url: old.url });
  sender.start();
  await sendMany(sender, 1);
  await expect.poll(() => sender.deliveries({ status: "delivered" })).toHaveLength(1);
  await sendMany(sender, 8);
  await old.until(9);
  await sender.endpoints.update(id, { url: moved.url });
  for (const fail of held) fail();
  const tried = async (): Promise<number> =>
    (await sender.deliveries()).filter(({ history }) => history.length > 0).length;
  await expect.poll(tried).toBe(9);
  await sendMany(sender, 1);
  await moved.until(1);
  expect(await store.collection(senderCollections.health).count()).toBe(0);
});

it("an endpoint that is removed leaves no record of its failures", async () => {
  const { store, receiver, makeSender } = await world();
  const sender = makeSender();
  const { id } = await sender.endpoints.create({ url: receiver.url });
  await sendMany(sender, 20);
  sender.start();
  const health = store.collection(senderCollections.health);
  await expect.poll(() => health.count()).toBe(1);
  await sender.endpoints.remove(id);
  expect(await health.count()).toBe(0);
});
