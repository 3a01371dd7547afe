import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore, type Store } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import type { Transport } from "@fetchwork/http";
import { Webhooks } from "@fetchwork/webhooks";
import {
  type AttemptReport,
  createSender,
  publicTransport,
  type Sender,
  senderCollections,
  type SenderOptions,
} from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { respondOnce, startReceiver } from "./receiver.ts";

let store: Store;
const cleanUp = new AsyncDisposableStack();
let senders: Sender[] = [];
let failures: unknown[] = [];

beforeEach(async () => {
  failures = [];
  store = await openStore("sqlite::memory:");
});

afterEach(async () => {
  await Promise.all(senders.map((sender) => sender.stop({ grace: 0 })));
  senders = [];
  await store.close();
  if (failures.length > 0) throw new AggregateError(failures, "the sender failed");
});

interface TestSender extends Sender {
  readonly reports: readonly AttemptReport[];
  /** Resolves with the first report, past or to come, that a function accepts. */
  report(accept: (report: AttemptReport) => boolean): Promise<AttemptReport>;
}

function makeSender(options: Partial<SenderOptions> = {}): TestSender {
  const reports: AttemptReport[] = [];
  const waiting = new Set<(report: AttemptReport) => void>();
  const sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
    retry: { firstDelay: 10, factor: 1, jitter: 0 },
    onError: (error) => failures.push(error),
    ...options,
    onAttempt(report) {
      reports.push(report);
      for (const notify of waiting) notify(report);
    },
  });
  senders.push(sender);
  return {
    ...sender,
    reports,
    report(accept) {
      const found = reports.find(accept);
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => {
        const notify = (report: AttemptReport): void => {
          if (!accept(report)) return;
          waiting.delete(notify);
          resolve(report);
        };
        waiting.add(notify);
      });
    },
  };
}

const isDelivered = ({ outcome }: AttemptReport): boolean => outcome === "delivered";
const isDead = ({ outcome }: AttemptReport): boolean => outcome === "dead";

describe("what cannot be sent", () => {
  it.each([
    [{ name: "a\r\nx-evil: 1", payload: {} }, "invalid event name"],
    [{ name: "", payload: {} }, "invalid event name"],
    [{ name: "a", payload: {}, id: "a b" }, "invalid id"],
    [{ name: "a", payload: {}, id: "a\nb" }, "invalid id"],
    [{ name: "a", payload: { big: 1n } }, "cannot be written as JSON"],
    [{ name: "a", payload: { text: "x".repeat(2_000_000) } }, "exceeds 1048576 bytes"],
    [{ name: "a", payload: () => {} }, "can be written as JSON"],
  ])("is refused before anything is stored: %#", async (event, message) => {
    const sender = makeSender();
    await expect(sender.send(event)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_ARGUMENT",
      message: expect.stringContaining(message),
    });
    expect(await store.collection(senderCollections.events).count()).toBe(0);
  });

  it.each([
    [{ name: "a", payload: {}, customer: "t" }, {}, 'an event has no option "customer"'],
    [{ name: "a", payload: {} }, { tenant: "t" }, 'send has no option "tenant"'],
    [{ name: "a", payload: {} }, { endpoints: ["e"] }, 'send has no option "endpoints"'],
    [{ name: "a", payload: {} }, { transation: {} }, 'did you mean "transaction"?'],
  ])("send() refuses properties that do not exist: %j, %j", async (event, options, message) => {
    await expect(makeSender().send(event, options as never)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_OPTION",
      message: expect.stringContaining(message),
    });
    expect(await store.collection(senderCollections.events).count()).toBe(0);
  });

  it.each([
    { timeout: 0 },
    { concurrency: 1.5 },
    { endpointConcurrency: 0 },
    { pollInterval: Number.NaN },
    { retry: { jitter: 7 } },
    { keepFor: -1 },
  ])("as an option throws at once: %j", (options) => {
    expect(() => createSender({ store, ...options })).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
    );
  });
});

describe("a delivery", () => {
  it("is signed so that the receiving side accepts it", async () => {
    await using receiver = await startReceiver();
    const sender = makeSender();
    sender.start();
    const { secret } = await sender.endpoints.create({ url: receiver.url });
    const sent = await sender.send({
      name: "issues",
      payload: { action: "opened", text: "Grüße 🎉" },
    });
    expect(sent).toMatchObject({ isDuplicate: false });
    await sender.report(isDelivered);
    const [delivery] = receiver.arrived;
    expect(delivery).toMatchObject({ id: sent.id, name: "issues" });
    expect(delivery?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "fetchwork-webhooks/0.1.0",
    });
    const webhooks = new Webhooks({ secret, vendor: fetchwork });
    const handled: unknown[] = [];
    webhooks.on("issues.opened", ({ payload }) => handled.push(payload));
    const { body: payload = "", headers = {} } = delivery ?? {};
    await webhooks.verifyAndReceive({ payload, headers });
    expect(handled).toEqual([{ action: "opened", text: "Grüße 🎉" }]);
    expect(await sender.deliveries({ eventId: sent.id })).toMatchObject([
      { status: "delivered", attempts: 1, history: [{ status: 200 }] },
    ]);
  });

  it("goes to the endpoints that subscribe to the event", async () => {
    await using all = await startReceiver();
    await using opened = await startReceiver();
    await using other = await startReceiver();
    const sender = makeSender();
    sender.start();
    await sender.endpoints.create({ url: all.url });
    await sender.endpoints.create({ url: opened.url, events: ["issues.opened"] });
    await sender.endpoints.create({ url: other.url, events: ["fork"] });
    const { id } = await sender.endpoints.create({ url: other.url });
    await sender.endpoints.update(id, { status: "disabled" });
    await sender.send({ name: "issues", payload: { action: "opened" } });
    await Promise.all([all.until(1), opened.until(1)]);
    expect(await sender.deliveries()).toHaveLength(2);
    expect(other.arrived).toEqual([]);
  });

  it("is retried until it succeeds, and records its attempts", async () => {
    await using receiver = await startReceiver((_, response, number) => {
      if (number === 1) response.destroy();
      else response.writeHead(number < 4 ? 500 : 204).end();
    });
    const sender = makeSender();
    sender.start();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await sender.report(isDelivered);
    const [delivery] = await sender.deliveries();
    expect(delivery).toMatchObject({ status: "delivered", attempts: 4 });
    expect(delivery?.history.map(({ status, error }) => status ?? error)).toEqual([
      "ERR_HTTP_CONNECTION",
      500,
      500,
      204,
    ]);
    expect(new Set(receiver.arrived.map((arrived) => arrived.id)).size).toBe(1);
    expect((await sender.endpoints.get(id))?.failingSince).toBeUndefined();
  });

  it("waits as long as Retry-After asks", async () => {
    await using receiver = await startReceiver((_, response, number) => {
      if (number === 1) response.writeHead(429, { "retry-after": "1" }).end();
      else response.end();
    });
    const sender = makeSender();
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    const retry = await sender.report(({ outcome }) => outcome === "retry");
    expect(
      Date.parse(retry.nextAt ?? "") - Date.parse(retry.attempt?.at ?? ""),
    ).toBeGreaterThanOrEqual(999);
    await sender.report(isDelivered);
    const [first, second] = receiver.arrived;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("does not follow a redirect", async () => {
    await using end = await startReceiver();
    await using start = await startReceiver((_, response) => {
      response.writeHead(307, { location: end.url }).end();
    });
    const sender = makeSender();
    await sender.endpoints.create({ url: start.url });
    sender.start();
    await sender.send({ name: "a", payload: { n: 1 } });
    expect(await sender.report(() => true)).toMatchObject({ attempt: { status: 307 } });
    expect(end.arrived).toEqual([]);
  });

  it("is aborted when the response takes too long, and keeps the status when only the body does", async () => {
    await using silent = await startReceiver(() => {});
    await using endless = await startReceiver((_, response) => {
      response.writeHead(200).write("x".repeat(100_000));
    });
    const sender = makeSender({ timeout: 200 });
    sender.start();
    const { id } = await sender.endpoints.create({ url: silent.url });
    await sender.endpoints.create({ url: endless.url });
    await sender.send({ name: "a", payload: {} });
    expect(await sender.report(({ endpointId }) => endpointId === id)).toMatchObject({
      outcome: "retry",
      attempt: { error: "ERR_HTTP_TIMEOUT" },
    });
    await sender.report(({ endpointId, outcome }) => endpointId !== id && outcome === "delivered");
  });

  it("does not hold up others when its endpoint is slow", async () => {
    await using slow = await startReceiver(respondOnce);
    await using quick = await startReceiver();
    const sender = makeSender({ concurrency: 4, endpointConcurrency: 2 });
    sender.start();
    await sender.endpoints.create({ url: slow.url, events: ["slow"] });
    await sender.endpoints.create({ url: quick.url, events: ["quick"] });
    for (let n = 0; n < 20; n += 1) await sender.send({ name: "slow", payload: {} });
    await slow.until(3);
    for (let n = 0; n < 20; n += 1) await sender.send({ name: "quick", payload: {} });
    await quick.until(20);
    expect(slow.arrived.length).toBe(3);
  });

  it("becomes due at once when the sender stops", async () => {
    await using receiver = await startReceiver((_, response, number) => {
      if (number > 1) response.end();
    });
    const first = makeSender();
    first.start();
    await first.endpoints.create({ url: receiver.url });
    await first.send({ name: "a", payload: {} });
    await receiver.until(1);
    await first.stop({ grace: 0 });
    expect(first.reports).toEqual([]);
    const second = makeSender();
    second.start();
    await second.report(isDelivered);
    expect(receiver.arrived.length).toBe(2);
  });
});

describe("giving up", () => {
  it("moves undelivered events to the dead letters, from where they can be replayed", async () => {
    let status = 500;
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(status).end();
    });
    const sender = makeSender({ retry: { giveUpAfter: 60, firstDelay: 10, factor: 1, jitter: 0 } });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    const sent = await sender.send({ name: "a", payload: {} });
    const dead = await sender.report(isDead);
    expect(dead).toMatchObject({ deadReason: "expired", eventId: sent.id });
    expect(await sender.deadLetters()).toMatchObject([
      { id: dead.deliveryId, deadReason: "expired" },
    ]);
    const before = receiver.arrived.length;
    status = 200;
    expect(await sender.replay(dead.deliveryId)).toBe(true);
    await sender.report(isDelivered);
    expect(receiver.arrived.length).toBe(before + 1);
    expect(receiver.arrived.at(-1)?.id).toBe(sent.id);
    expect(await sender.deadLetters()).toEqual([]);
    expect(await sender.replay("nothing")).toBe(false);
  });

  it("replays all at once", async () => {
    let status = 500;
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(status).end();
    });
    const sender = makeSender({ retry: { giveUpAfter: 1, firstDelay: 10 } });
    sender.start();
    await sender.endpoints.create({ url: receiver.url });
    for (let n = 0; n < 5; n += 1) await sender.send({ name: "a", payload: { n } });
    await expect.poll(async () => (await sender.deadLetters()).length).toBe(5);
    status = 200;
    expect(await sender.replayAll({ endpointId: "other" })).toBe(0);
    expect(await sender.replayAll()).toBe(5);
    const bodies = new Set<string>();
    await receiver.until(10);
    for (const { body } of receiver.arrived.slice(5)) bodies.add(body);
    expect(bodies.size).toBe(5);
  });

  it("disables an endpoint that responds with 410", async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(410).end();
    });
    const sender = makeSender();
    sender.start();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    expect(await sender.report(isDead)).toMatchObject({
      deadReason: "gone",
      attempt: { status: 410 },
    });
    expect(await sender.endpoints.get(id)).toMatchObject({
      status: "disabled",
      disabledReason: "gone",
    });
    const { id: eventId } = await sender.send({ name: "a", payload: {} });
    await expect.poll(() => store.collection(jobCollections.jobs).count()).toBe(0);
    expect(await sender.deliveries({ eventId })).toEqual([]);
  });

  it("disables an endpoint that has failed for too long, and fails its waiting deliveries", async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(503).end();
    });
    const sender = makeSender({ disableAfter: 50 });
    sender.start();
    const { id } = await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    await sender.report(({ outcome }) => outcome === "retry");
    expect(await sender.report(isDead)).toMatchObject({ deadReason: "disabled" });
    expect(await sender.endpoints.get(id)).toMatchObject({
      status: "disabled",
      disabledReason: "failing",
    });
    await sender.endpoints.update(id, { status: "enabled" });
    const { id: eventId } = await sender.send({ name: "a", payload: {} });
    await expect.poll(async () => (await sender.deliveries({ eventId })).length).toBe(1);
    await sender.endpoints.remove(id);
    expect(await sender.report((r) => r.eventId === eventId && isDead(r))).toMatchObject({
      deadReason: "removed",
    });
  });
});

describe("targets that are not public", () => {
  // An address in an URL is refused as an endpoint already, unless the transport is one's own.
  it.each<[string, Transport | undefined]>([
    ["http://localhost:1/", undefined],
    ["http://127.0.0.1:1/", publicTransport()],
    ["http://[::1]:1/", publicTransport()],
    ["http://0x7f000001:1/", publicTransport()],
    ["http://[::ffff:127.0.0.1]:1/", publicTransport()],
    ["http://169.254.169.254/latest/meta-data", publicTransport()],
    ["http://10.0.0.1/", publicTransport()],
  ])("get nothing unless that is allowed: %s", async (url, transport) => {
    const sender = makeSender({ allowPrivate: false, transport });
    sender.start();
    await sender.endpoints.create({ url });
    await sender.send({ name: "a", payload: {} });
    expect(await sender.report(() => true)).toMatchObject({
      outcome: "retry",
      attempt: { error: "ERR_WEBHOOKS_TARGET" },
    });
  });
});

describe("events", () => {
  it("are stored once under one identifier", async () => {
    const sender = makeSender();
    await sender.endpoints.create({ url: "https://example.com/" });
    const event = { id: "e1", name: "a", payload: { n: 1 } };
    expect(await Promise.all([sender.send(event), sender.send(event)])).toEqual([
      { id: "e1", isDuplicate: false },
      { id: "e1", isDuplicate: true },
    ]);
    await expect(sender.send({ ...event, payload: { n: 2 } })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_ARGUMENT",
    });
    sender.start();
    await expect.poll(async () => (await sender.deliveries()).length).toBe(1);
    // Once more, when the job of the event is gone.
    await expect.poll(() => store.collection(jobCollections.jobs).count()).toBe(0);
    expect(await sender.send(event)).toEqual({ id: "e1", isDuplicate: true });
    expect(await store.collection(jobCollections.jobs).count()).toBe(0);
  });

  it.each([
    ["are not sent to endpoints that were created 6 minutes afterwards", 360_000, 1],
    ["are sent to endpoints of a process whose clock is 4 minutes ahead", 240_000, 2],
  ])("%s", async (_, ahead, deliveries) => {
    await using receiver = await startReceiver();
    const sender = makeSender();
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    const now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now + ahead);
    onTestFinished(() => void vi.restoreAllMocks());
    await sender.endpoints.create({ url: receiver.url });
    vi.restoreAllMocks();
    sender.start();
    await sender.report(isDelivered);
    expect(await sender.deliveries()).toHaveLength(deliveries);
  });

  it("of a batch fail independently", async () => {
    const sender = makeSender();
    await sender.send({ id: "taken", name: "a", payload: {} });
    const results = await Promise.allSettled([
      sender.send({ name: "a", payload: { n: 1 } }),
      sender.send({ id: "taken", name: "b", payload: {} }),
      sender.send({ name: "a", payload: { n: 2 } }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await store.collection(senderCollections.events).count()).toBe(3);
  });

  it("belong to the caller's transaction when there is one", async () => {
    await using receiver = await startReceiver();
    const sender = makeSender();
    await sender.endpoints.create({ url: receiver.url });
    sender.start();
    await expect(
      store.transaction(async (transaction) => {
        await sender.send({ name: "a", payload: {} }, { transaction });
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    expect(await store.collection(senderCollections.events).count()).toBe(0);
    expect(await store.collection(jobCollections.jobs).count()).toBe(0);
    const { id } = await store.transaction((transaction) =>
      sender.send({ name: "a", payload: {} }, { transaction }),
    );
    await sender.report(isDelivered);
    expect(receiver.arrived.map((arrived) => arrived.id)).toEqual([id]);
  });

  it("that were settled long ago are removed", async () => {
    await using receiver = await startReceiver();
    const first = makeSender();
    first.start();
    await first.endpoints.create({ url: receiver.url });
    await first.send({ name: "a", payload: {} });
    await first.report(isDelivered);
    await first.stop();
    await setTimeout(20);
    const retry = { giveUpAfter: 1 };
    const second = makeSender({ keepFor: 1, retry });
    second.start();
    await expect.poll(async () => (await second.deliveries()).length).toBe(0);
    await expect.poll(() => store.collection(senderCollections.events).count()).toBe(0);
  });
});

describe("after a restart", () => {
  it("delivers what was stored before", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fetchwork-sender-"));
    cleanUp.defer(() => rm(folder, { recursive: true }));
    const url = `sqlite:${join(folder, "s.db")}`;
    await using receiver = await startReceiver();
    {
      await using file = await openStore(url);
      const sender = createSender({ store: file, allowHttp: true, allowPrivate: true });
      await sender.endpoints.create({ url: receiver.url });
      await sender.send({ name: "a", payload: { n: 1 } });
    }
    await using file = await openStore(url);
    await using sender = createSender({ store: file, allowHttp: true, allowPrivate: true });
    sender.start();
    await receiver.until(1);
    expect(receiver.arrived).toMatchObject([{ body: '{"n":1}' }]);
    await cleanUp.disposeAsync();
  });
});
