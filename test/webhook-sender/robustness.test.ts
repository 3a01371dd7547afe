import { openStore, type Store } from "@fetchwork/documents";
import {
  type AttemptReport,
  createSender,
  type Sender,
  senderCollections,
  type SenderOptions,
} from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { respondOnce, startReceiver } from "./receiver.ts";

const day = 86_400_000;
let store: Store;
let senders: Sender[] = [];

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
});

afterEach(async () => {
  await Promise.all(senders.map((sender) => sender.stop({ grace: 0 })));
  senders = [];
  await store.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function makeSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
    retry: { firstDelay: 10, factor: 1, jitter: 0 },
    ...options,
  });
  senders.push(sender);
  return sender;
}

/** The store, with an eye on what is asked of its deliveries. */
function storeWith(
  notice: (method: string) => void,
  hold: () => Promise<void> | undefined = () => undefined,
): Store {
  const deliveries = new Proxy(store.collection(senderCollections.deliveries), {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...given: unknown[]): Promise<unknown> => {
        notice(String(name));
        const result: unknown = await Reflect.apply(method, target, given);
        // Looks for what is due, not those for what is old.
        if (name === "find" && JSON.stringify(given).includes("pending")) await hold();
        return result;
      };
    },
  });
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: readonly [{ readonly name?: string }]): unknown =>
        name === "collection" && given[0].name === senderCollections.deliveries.name
          ? deliveries
          : Reflect.apply(method, target, given);
    },
  });
}

/** Stores so many pending deliveries of one event. */
async function addBacklog(endpointId: string, count: number): Promise<void> {
  const eventName = "backlog";
  const expiresAt = new Date(Date.now() + day).toISOString();
  const dueAt = new Date(Date.now() - 60_000).toISOString();
  const rest = { dueAt, expiresAt, attempts: 0, history: [] };
  const status = "pending" as const;
  await store.transaction(async (transaction) => {
    const events = transaction.collection(senderCollections.events);
    const ids = Array.from({ length: count }, (_, n) => `backlog-${endpointId}-${n}`);
    for (const id of ids) await events.insert({ name: eventName, payload: "{}" }, { id });
    const records = ids.map((eventId) => ({ eventId, eventName, endpointId, status, ...rest }));
    await transaction.collection(senderCollections.deliveries).insertMany(records);
  });
}

describe("a backlog", () => {
  it("of one endpoint does not delay the others, and needs few polls", async () => {
    await using silent = await startReceiver(respondOnce);
    await using quick = await startReceiver();
    let looks = 0;
    const counting = storeWith((method) => {
      if (method === "find") looks += 1;
    });
    const sender = makeSender({ store: counting, pollInterval: 60_000 });
    const { id } = await sender.endpoints.create({ url: silent.url, events: ["silent"] });
    await sender.endpoints.create({ url: quick.url, events: ["quick"] });
    await addBacklog(id, 2000);
    sender.start();
    await silent.until(9);
    for (let n = 0; n < 20; n += 1) {
      await sender.send({ name: "quick", payload: {} });
      await quick.until(n + 1);
    }
    expect(silent.arrived.length).toBe(9);
    expect(looks).toBeLessThan(100);
  });

  it("of several endpoints is processed in turns and completely", { timeout: 30_000 }, async () => {
    await using first = await startReceiver();
    await using second = await startReceiver();
    const sender = makeSender({ pollInterval: 60_000, concurrency: 4, endpointConcurrency: 3 });
    for (const { url } of [first, second]) {
      const { id } = await sender.endpoints.create({ url });
      await addBacklog(id, 150);
    }
    sender.start();
    await Promise.all([first.until(75), second.until(75)]);
    expect(Math.abs(first.arrived.length - second.arrived.length)).toBeLessThan(60);
    await Promise.all([first.until(150), second.until(150)]);
    await expect.poll(async () => (await sender.deliveries({ status: "pending" })).length).toBe(0);
    const ids = [...first.arrived, ...second.arrived].map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
  });
});

describe("a store that refuses changes", () => {
  it.each([
    new Error("the disk is full"),
    // Not the VersionError of a concurrent change.
    Object.assign(new Error("unsupported"), { code: "ERR_SERVER_VERSION" }),
  ])("is retried at the next interval, not in a loop: %s", async (refusal) => {
    const failures: unknown[] = [];
    const refusing = storeWith((method) => {
      if (method === "update") throw refusal;
    });
    const sender = makeSender({
      store: refusing,
      pollInterval: 60_000,
      onError: (error) => failures.push(error),
    });
    const { id } = await sender.endpoints.create({ url: "http://127.0.0.1:1/" });
    await addBacklog(id, 500);
    sender.start();
    await expect.poll(() => failures.length).toBeGreaterThan(0);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(failures.length).toBeLessThanOrEqual(64);
    expect(failures[0]).toBe(refusal);
  });
});

describe("a store that refused changes", () => {
  it("leaves the endpoint all of its slots", async () => {
    await using receiver = await startReceiver();
    const failures: unknown[] = [];
    const recovering = storeWith((method) => {
      if (method === "update" && failures.length < 30) throw new Error("the disk is full");
    });
    const sender = makeSender({ store: recovering, onError: (error) => failures.push(error) });
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await addBacklog(id, 20);
    sender.start();
    await receiver.until(20);
    expect(new Set(receiver.arrived.map((arrived) => arrived.id)).size).toBe(20);
  });
});

describe("a clock that is put forward", () => {
  it("neither hides what is due nor keeps the sender busy", async () => {
    await using silent = await startReceiver(respondOnce);
    await using quick = await startReceiver();
    let looks = 0;
    const counting = storeWith((method) => {
      if (method === "find") looks += 1;
    });
    const sender = makeSender({ store: counting, concurrency: 5 });
    const { id } = await sender.endpoints.create({ url: silent.url, events: ["silent"] });
    const { id: quickId } = await sender.endpoints.create({ url: quick.url, events: ["quick"] });
    await addBacklog(id, 5);
    sender.start();
    await silent.until(5);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + day / 24 });
    looks = 0;
    // By another process, so that a look has to find it.
    await addBacklog(quickId, 1);
    await quick.until(1);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(silent.arrived.length).toBe(5);
    expect(looks).toBeLessThan(50);
  });
});

describe("listeners that fail", () => {
  it.each([
    [
      "throw",
      () => {
        throw new Error("listener");
      },
    ],
    ["reject", () => Promise.reject(new Error("listener"))],
  ])("end nothing when they %s", async (_, fail) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    await using receiver = await startReceiver();
    const sender = makeSender({ onAttempt: fail, onError: fail });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await receiver.until(1);
    await sender.send({ name: "a", payload: {} });
    await receiver.until(2);
    await expect.poll(() => log.mock.calls.length).toBe(2);
  });
});

describe("replay", () => {
  it("wakes the sender, sets a new time limit, and does not touch deliveries in progress", async () => {
    let status = 500;
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(status).end();
    });
    const sender = makeSender({
      pollInterval: 60_000,
      retry: { giveUpAfter: 500, firstDelay: day },
    });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    const { id: eventId } = await sender.send({ name: "a", payload: {} });
    await expect.poll(async () => (await sender.deadLetters()).length).toBe(1);
    const [dead] = await sender.deliveries({ eventId });
    status = 200;
    expect(await sender.replay(dead?.id ?? "")).toBe(true);
    await receiver.until(2);
    await expect
      .poll(async () => (await sender.deliveries({ status: "delivered" })).length)
      .toBe(1);
    const [done] = await sender.deliveries({ id: dead?.id });
    expect(Date.parse(done?.expiresAt ?? "")).toBeGreaterThan(Date.parse(dead?.expiresAt ?? ""));
    expect(await sender.deliveries({ id: "another" })).toEqual([]);

    await sender.stop();
    const later = makeSender();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await addBacklog(id, 1);
    const [pending] = await later.deliveries({ endpointId: id });
    const due = new Date(Date.now() + day).toISOString();
    const deliveries = store.collection(senderCollections.deliveries);
    await deliveries.update(pending?.id ?? "", { dueAt: due, attempts: 3 });
    expect(await later.replay(pending?.id ?? "")).toBe(true);
    expect(await later.deliveries({ endpointId: id })).toMatchObject([{ dueAt: due, attempts: 3 }]);
  });
});

describe("replayAll", () => {
  it("ends even if all deliveries fail again", async () => {
    const reports: AttemptReport[] = [];
    const sender = makeSender({ onAttempt: (report) => reports.push(report) });
    const { id } = await sender.endpoints.create({ url: "http://127.0.0.1:1/" });
    await addBacklog(id, 40);
    await sender.endpoints.remove(id);
    sender.start();
    await expect.poll(() => reports.length).toBe(40);
    expect(await sender.replayAll()).toBe(40);
    expect(await makeSender().replayAll({ endpointId: "none" })).toBe(0);
  });
});

describe("the outcome of an attempt", () => {
  it("at an old URL does not count for the new one", async () => {
    let answer: () => void = () => {};
    await using old = await startReceiver((_, response) => {
      answer = () => response.writeHead(410).end();
    });
    await using moved = await startReceiver();
    const sender = makeSender();
    sender.start();
    const { id } = await sender.endpoints.create({ url: old.url });
    await sender.send({ name: "a", payload: {} });
    await old.until(1);
    await sender.endpoints.update(id, { url: moved.url });
    answer();
    await moved.until(1);
    expect(await sender.endpoints.get(id)).toMatchObject({ status: "enabled" });
  });

  it("counts as delivered even if another sender gave the delivery up at the same time", async () => {
    let answer: () => void = () => {};
    await using receiver = await startReceiver((_, response) => {
      answer = () => response.end();
    });
    const reports: AttemptReport[] = [];
    const sender = makeSender({ onAttempt: (report) => reports.push(report) });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await receiver.until(1);
    const [delivery] = await sender.deliveries();
    const deliveries = store.collection(senderCollections.deliveries);
    await deliveries.update(delivery?.id ?? "", { status: "dead", deadReason: "expired" });
    answer();
    await expect.poll(() => reports).toMatchObject([{ outcome: "delivered" }]);
    const [after] = await sender.deliveries();
    expect(after).toMatchObject({ status: "delivered" });
    expect(after).not.toHaveProperty("deadReason");
  });

  it.each([
    ["given up", 1],
    ["tried again", day],
  ])("is not stored over what another one did, when it would be %s", async (_, giveUpAfter) => {
    let answer: () => void = () => {};
    await using receiver = await startReceiver((_, response) => {
      answer = () => response.writeHead(500).end();
    });
    const reports: AttemptReport[] = [];
    const retry = { giveUpAfter, firstDelay: 10 };
    const sender = makeSender({ onAttempt: (report) => reports.push(report), retry });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await receiver.until(1);
    const [delivery] = await sender.deliveries();
    const deliveries = store.collection(senderCollections.deliveries);
    const dueAt = new Date(Date.now() + 2 * day).toISOString();
    await deliveries.update(delivery?.id ?? "", { dueAt, attempts: 2 });
    answer();
    await expect.poll(() => reports).toMatchObject([{ outcome: "retry", number: 1 }]);
    expect(reports[0]?.nextAt).toBeUndefined();
    expect(await sender.deliveries()).toMatchObject([{ status: "pending", dueAt, attempts: 2 }]);
  });

  it("is recorded with the last 20 attempts", async () => {
    await using receiver = await startReceiver();
    const sender = makeSender();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await addBacklog(id, 1);
    const [delivery] = await sender.deliveries();
    const history = Array.from({ length: 20 }, (_, n) => ({ at: "", duration: n, status: 500 }));
    const deliveries = store.collection(senderCollections.deliveries);
    await deliveries.update(delivery?.id ?? "", { history });
    sender.start();
    await expect
      .poll(async () => (await sender.deliveries())[0]?.history)
      .toEqual([...history.slice(1), expect.objectContaining({ status: 200 })]);
  });

  it("may ask for a pause, which does not outlive the delivery", async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(503, { "retry-after": "999999999" }).end();
    });
    const reports: AttemptReport[] = [];
    const sender = makeSender({ onAttempt: (report) => reports.push(report) });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await expect.poll(() => reports).toMatchObject([{ outcome: "retry" }]);
    const [delivery] = await sender.deliveries();
    expect(delivery).toMatchObject({ status: "pending", dueAt: delivery?.expiresAt });
  });

  it("is forgotten when the endpoint gets another URL", async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(500).end();
    });
    const sender = makeSender({ retry: { firstDelay: day } });
    sender.start();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await expect
      .poll(async () => (await sender.endpoints.get(id))?.failingSince)
      .toEqual(expect.any(String));
    expect(await sender.endpoints.update(id, { description: "d" })).toMatchObject({
      failingSince: expect.any(String),
    });
    const changed = await sender.endpoints.update(id, { url: "https://example.com/" });
    expect(changed?.failingSince).toBeUndefined();
    const endpoints = store.collection(senderCollections.endpoints);
    await endpoints.update(id, { failingSince: "2026-01-01T00:00:00.000Z" });
    expect(
      (await sender.endpoints.update(id, { status: "enabled" }))?.failingSince,
    ).toBeUndefined();
  });
});

describe("an event that is sent during a poll", () => {
  it("does not wait for the next interval", async () => {
    await using receiver = await startReceiver();
    const release = Promise.withResolvers<void>();
    const isLooking = Promise.withResolvers<void>();
    let looks = 0;
    const slow = storeWith(
      () => {},
      () => {
        looks += 1;
        // The first one is for everything; the second one is for the endpoint that was sent to.
        if (looks !== 2) return undefined;
        isLooking.resolve();
        return release.promise;
      },
    );
    const sender = makeSender({ store: slow, pollInterval: 60_000 });
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    await expect.poll(() => looks).toBe(1);
    await sender.send({ name: "a", payload: {} });
    await isLooking.promise;
    await sender.send({ name: "a", payload: {} });
    release.resolve();
    await receiver.until(2);
  });
});

describe("a delivery to an endpoint that was disabled", () => {
  it("fails without an attempt", async () => {
    await using receiver = await startReceiver();
    const reports: AttemptReport[] = [];
    const sender = makeSender({ onAttempt: (report) => reports.push(report) });
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await addBacklog(id, 1);
    await sender.endpoints.update(id, { status: "disabled" });
    sender.start();
    await expect.poll(() => reports).toMatchObject([{ outcome: "dead", deadReason: "disabled" }]);
    expect(reports[0]?.attempt).toBeUndefined();
    expect(receiver.arrived).toEqual([]);
  });
});

describe("stopping", () => {
  it("waits for a poll, and does not use the store after it", async () => {
    await using receiver = await startReceiver(() => {});
    const release = Promise.withResolvers<void>();
    const isLooking = Promise.withResolvers<void>();
    let calls = 0;
    const slow = storeWith(
      () => {
        calls += 1;
      },
      () => {
        isLooking.resolve();
        return release.promise;
      },
    );
    const sender = makeSender({ store: slow });
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await addBacklog(id, 3);
    sender.start();
    await isLooking.promise;
    const stopped = sender.stop({ grace: 0 });
    setImmediate(() => release.resolve());
    await stopped;
    calls = 0;
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(calls).toBe(0);
    const left = await sender.deliveries();
    expect(left.map(({ dueAt }) => Date.parse(dueAt) <= Date.now())).toEqual([true, true, true]);
  });

  it("waits without a limit for running deliveries if asked to, and starts no new one", async () => {
    let answer: () => void = () => {};
    await using receiver = await startReceiver((_, response) => {
      answer = () => response.end();
    });
    const sender = makeSender();
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await receiver.until(1);
    const stopped = sender.stop({ grace: Infinity });
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    answer();
    await stopped;
    expect(await sender.deliveries()).toMatchObject([{ status: "delivered" }]);
    sender.start();
    await sender.send({ name: "a", payload: {} });
    expect(receiver.arrived.length).toBe(1);
  });

  it.each([-1, Number.NaN, 2 ** 31])("rejects %d milliseconds", async (grace) => {
    await expect(makeSender().stop({ grace })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_OPTION",
    });
  });
});

describe("mistakes", () => {
  it("in a change of an endpoint reject the promise, and throw nothing", async () => {
    const sender = makeSender();
    const { id } = await sender.endpoints.create({ url: "http://127.0.0.1:1/" });
    await expect(sender.endpoints.update(id, { url: "ftp://x" })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_TARGET",
    });
  });

  it.each([
    { pollInterval: 2 ** 31 },
    { timeout: 2 ** 31 },
    { lease: 15_000 },
    { retry: { giveUpAfter: Number.MAX_SAFE_INTEGER } },
  ])("in options throw at once: %j", (options) => {
    expect(() => createSender({ store, ...options })).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
    );
  });

  it("in a payload are rejected if its JSON is not an object", async () => {
    await expect(makeSender().send({ name: "a", payload: new Date() })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_ARGUMENT",
    });
  });
});
