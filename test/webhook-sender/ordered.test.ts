import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openStore, type Store } from "@fetchwork/documents";
import {
  createSender,
  type Sender,
  senderCollections,
  type SenderOptions,
} from "@fetchwork/webhooks/sender";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startReceiver } from "./receiver.ts";

let store: Store;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
});

function open(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
    retry: { firstDelay: 20, maxDelay: 50 },
    ...options,
  });
  onTestFinished(() => sender.stop({ grace: 0 }));
  return sender;
}

const numberOf = ({ body }: { readonly body: string }): number =>
  (JSON.parse(body) as { readonly number: number }).number;

describe("events of one key", () => {
  it.each(["", "a".repeat(129), 5, null])("the key %j is refused", async (key) => {
    const event = { name: "order", payload: {}, key: key as never };
    await expect(open().send(event)).rejects.toMatchObject({ code: "ERR_WEBHOOKS_ARGUMENT" });
  });

  it("arrive one after the other in their order at each endpoint, also when every other attempt fails", async () => {
    let running = 0;
    let most = 0;
    await using receiver = await startReceiver((_, response, number) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        response.writeHead(number % 2 === 0 ? 500 : 200).end();
      }, 5);
    });
    const sender = open();
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        sender.send({ name: "order", payload: { number }, key: "order 7/ä" }),
      ),
    );
    await expect
      .poll(async () => (await sender.deliveries({ status: "delivered" })).length, {
        timeout: 10_000,
      })
      .toBe(20);
    expect(most).toBe(1);
    const numbers = receiver.arrived.map(numberOf);
    expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    expect(new Set(numbers).size).toBe(20);
    expect(await store.collection(senderCollections.lanes).count()).toBe(0);
  });

  it("wait for one that fails, and those of other keys and endpoints do not", async () => {
    await using bad = await startReceiver((delivery, response) => {
      response.writeHead(numberOf(delivery) === 0 ? 500 : 200).end();
    });
    await using good = await startReceiver();
    const sender = open({ retry: { firstDelay: 60_000 } });
    const { id: endpointId } = await sender.endpoints.create({ url: bad.url });
    await sender.endpoints.create({ url: good.url });
    sender.start();
    for (const number of [0, 1, 2]) {
      await sender.send({ name: "order", payload: { number }, key: "a" });
    }
    await sender.send({ name: "order", payload: { number: 3 }, key: "b" });
    await sender.send({ name: "order", payload: { number: 4 } });
    await good.until(5);
    await bad.until(3);
    expect(good.arrived.map(numberOf).filter((number) => number < 3)).toEqual([0, 1, 2]);
    expect(new Set(bad.arrived.map(numberOf))).toEqual(new Set([0, 3, 4]));
    const ofBad = { status: "pending", endpointId } as const;
    await expect.poll(async () => (await sender.deliveries(ofBad)).length).toBe(3);
    const waiting = await sender.deliveries(ofBad);
    expect(waiting.map(({ dueAt }) => dueAt.startsWith("9999"))).toEqual([true, true, false]);
  });

  it("are not stored past one that the store refused", async () => {
    const sender = open();
    const transaction = store.transaction.bind(store);
    let left = 2; // Of both together, and of the first one alone.
    const failing = vi.spyOn(store, "transaction").mockImplementation(async (work, options) => {
      if ((left -= 1) >= 0) throw new Error("the store is away");
      return transaction(work, options);
    });
    onTestFinished(() => failing.mockRestore());
    const send = (number: number, key: string): Promise<unknown> =>
      sender.send({ name: "order", payload: { number }, key });
    const outcomes = await Promise.allSettled([send(0, "a"), send(1, "a"), send(2, "b")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    const stored = await store.collection(senderCollections.events).find();
    expect(stored.map(({ payload }) => payload)).toEqual(['{"number":2}']);
  });

  it("wait for each other when one is replayed, too", async () => {
    let running = 0;
    let most = 0;
    await using receiver = await startReceiver((_, response) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        response.end();
      }, 100);
    });
    const sender = open();
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    const send = (number: number): Promise<unknown> =>
      sender.send({ name: "order", payload: { number }, key: "a" });
    await send(0);
    await expect.poll(async () => sender.deliveries({ status: "delivered" })).toHaveLength(1);
    const [first] = await sender.deliveries();
    for (const number of [1, 2]) await send(number);
    await receiver.until(2);
    expect(await sender.replay(first?.id ?? "")).toBe(true);
    await receiver.until(3);
    await send(3);
    await receiver.until(5);
    await expect.poll(async () => sender.deliveries({ status: "delivered" })).toHaveLength(4);
    expect(most).toBe(1);
    expect(receiver.arrived.map(numberOf)).toEqual([0, 1, 0, 2, 3]);
    expect(await store.collection(senderCollections.lanes).count()).toBe(0);
  });

  it("keep their order where clocks of processes differ", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "lanes-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await using receiver = await startReceiver((_, response, number) => {
      response.writeHead(number === 1 ? 500 : 200).end();
    });
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const [number, ahead] of [0, 60_000, 0].entries()) {
      vi.setSystemTime(now + ahead);
      await using shared = await openStore(`sqlite:${folder}/shop.db`);
      await using sender = open({ store: shared, retry: { firstDelay: 120_000, jitter: 0 } });
      if (number === 0) await sender.endpoints.create({ url: receiver.url });
      sender.start();
      await sender.send({ name: "order", payload: { number }, key: "a" });
      await expect.poll(async () => sender.deliveries()).toHaveLength(number + 1);
      const attempts = async (): Promise<unknown> =>
        (await sender.deliveries()).flatMap(({ history }) => history);
      await expect.poll(attempts).toHaveLength(1);
      if (number < 2) continue;
      vi.setSystemTime(now + 120_000);
      await expect.poll(async () => sender.deliveries({ status: "delivered" })).toHaveLength(3);
    }
    expect(receiver.arrived.map(numberOf)).toEqual([0, 0, 1, 2]);
  });

  it("do not wait for one that was removed while it was replayed", async () => {
    await using receiver = await startReceiver();
    const sender = open();
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    await sender.send({ name: "order", payload: { number: 0 }, key: "a" });
    const delivered = (): Promise<unknown> => sender.deliveries({ status: "delivered" });
    await expect.poll(delivered).toHaveLength(1);
    const id = (await sender.deliveries())[0]?.id ?? "";
    // As `keepFor` removes it.
    const removing = store.collection(senderCollections.deliveries);
    await Promise.all([sender.replay(id), removing.remove(id)]);
    await sender.send({ name: "order", payload: { number: 1 }, key: "a" });
    await expect.poll(delivered).toHaveLength(1);
    expect(receiver.arrived.map(numberOf)).toEqual([0, 1]);
  });

  it("go on when one is given up", async () => {
    await using receiver = await startReceiver((delivery, response) => {
      response.writeHead(numberOf(delivery) === 0 ? 500 : 200).end();
    });
    const sender = open({ retry: { firstDelay: 10, giveUpAfter: 1 } });
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    for (const number of [0, 1]) {
      await sender.send({ name: "order", payload: { number }, key: "a" });
    }
    await expect
      .poll(async () => (await sender.deliveries()).map(({ status }) => status))
      .toEqual(["delivered", "dead"]);
  });
});

describe("eventTypes", () => {
  const isTotal = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) =>
        typeof value === "object" && value !== null && "total" in value
          ? { value }
          : { issues: [{ message: "hidden 4711", path: ["total"] }] },
    },
  } as const;
  const eventTypes = {
    "order.paid": { description: "An order is paid", schema: isTotal },
    "user.created": {},
    ping: {},
  };

  it.each([
    [{ name: "orders", payload: {} }, "ERR_WEBHOOKS_EVENT_NAME"],
    [{ name: "order", payload: {} }, "ERR_WEBHOOKS_EVENT_NAME"],
    [{ name: "order.payd", payload: {} }, "ERR_WEBHOOKS_EVENT_NAME"],
    [{ name: "toString", payload: {} }, "ERR_WEBHOOKS_EVENT_NAME"],
    [{ name: "order", payload: { action: "paid" } }, "ERR_WEBHOOKS_ARGUMENT"],
    [{ name: "order.paid", payload: { card: "4711" } }, "ERR_WEBHOOKS_ARGUMENT"],
  ])("%j is refused and not stored", async (event, code) => {
    const sender = open({ eventTypes });
    const refused = sender.send(event);
    await expect(refused).rejects.toMatchObject({ code });
    await expect(refused).rejects.not.toThrow(/4711/);
    expect(await store.collection(senderCollections.events).count()).toBe(0);
  });

  it("names the closest event, and the place that is wrong", async () => {
    const sender = open({ eventTypes });
    await expect(sender.send({ name: "order.payd", payload: {} })).rejects.toThrow(
      "no event type is named order.payd; did you mean order.paid?",
    );
    await expect(sender.send({ name: "order.paid", payload: {} })).rejects.toThrow(
      "the payload of order.paid does not match its schema: total",
    );
  });

  it.each(["orders", "order.*.paid", "orders.*", "order.refunded", "pin"])(
    "an endpoint cannot subscribe to %s, which nothing sends",
    async (name) => {
      const { endpoints } = open({ eventTypes });
      await expect(
        endpoints.create({ url: "https://example.com/", events: ["ping", name] }),
      ).rejects.toMatchObject({ code: "ERR_WEBHOOKS_OPTION" });
    },
  );

  it.each(["order", "order.*", "order.paid", "user.*", "ping", "ping.now"])(
    "an endpoint can subscribe to %s",
    async (name) => {
      const { endpoints } = open({ eventTypes });
      await endpoints.create({ url: "https://example.com/", events: [name] });
    },
  );

  it("what matches is sent as it was passed", async () => {
    await using receiver = await startReceiver();
    const sender = open({ eventTypes });
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    await sender.send({ name: "order", payload: { action: "paid", total: 1, more: [2] } });
    await sender.send({ name: "ping", payload: { action: "now" } });
    await receiver.until(2);
    const bodies = receiver.arrived.map(({ body }) => body).toSorted();
    expect(bodies).toEqual(['{"action":"now"}', '{"action":"paid","total":1,"more":[2]}']);
  });

  it("an invalid name is refused", () => {
    const make = (): Sender => open({ eventTypes: { "a b": {} } });
    expect(make).toThrow(expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }));
  });
});
