import { openStore, type Store, type Transaction } from "@fetchwork/documents";
import { createJobs, jobCollections } from "@fetchwork/documents/jobs";
import {
  createSender,
  type Sender,
  type SenderOptions,
  senderCollections,
} from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const day = 86_400_000;
const closed = "http://127.0.0.1:1/hooks";
let store: Store;
let senders: Sender[] = [];

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
});

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(senders.map((sender) => sender.stop({ grace: 0 })));
  senders = [];
  await store.close();
});

function makeSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ store, allowHttp: true, allowPrivate: true, ...options });
  senders.push(sender);
  return sender;
}

/**
 * A transaction that writes down what is asked of its collections, and how many documents come
 * back.
 */
function watched(transaction: Transaction, asked: string[]): Transaction {
  const functionsOf = <T extends object>(
    target: T,
    call: (name: string, work: () => unknown, given: readonly unknown[]) => unknown,
  ): T =>
    new Proxy(target, {
      get(_, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...given: unknown[]): unknown =>
          call(String(name), () => Reflect.apply(method, target, given), given);
      },
    });
  return functionsOf(transaction, (_, open, [definition]) => {
    const { name: collection } = definition as { readonly name: string };
    return functionsOf(open() as object, async (name, work) => {
      const found = await work();
      const count = Array.isArray(found) ? found.length : Number(found !== undefined);
      asked.push(`${collection}.${name}: ${count}`);
      return found;
    });
  });
}

describe("an event that is sent", () => {
  it("costs the same with no endpoint and with 1,000", async () => {
    const sender = makeSender();
    const costOf = async (id: string): Promise<readonly string[]> => {
      const asked: string[] = [];
      await store.transaction((transaction) =>
        sender.send({ id, name: "a", payload: {} }, { transaction: watched(transaction, asked) }),
      );
      return asked;
    };
    const before = await costOf("first");
    const endpoint = { url: closed, topics: ["/*"], secrets: "{}", status: "enabled" } as const;
    const endpoints = Array.from({ length: 1000 }, () => endpoint);
    await store.collection(senderCollections.endpoints).insertMany(endpoints);
    expect(await costOf("second")).toEqual(before);
    expect(before).toEqual([
      "webhook_events.get: 0",
      "webhook_events.insert: 1",
      "job-queue.get: 0",
      "job-done.find: 0",
      "job-queue.insert: 1",
    ]);
  });

  it("has one job and no delivery until a sender runs, and then no job", async () => {
    const sender = makeSender();
    for (let n = 0; n < 3; n += 1) await sender.endpoints.create({ url: closed });
    await sender.send({ id: "e", name: "a", payload: {} });
    const jobs = store.collection(jobCollections.jobs);
    expect(await jobs.find()).toMatchObject([{ job: "webhook-event", input: { eventId: "e" } }]);
    expect(await sender.deliveries()).toEqual([]);
    sender.start();
    await expect.poll(async () => (await sender.deliveries()).length).toBe(3);
    expect(await jobs.count()).toBe(0);
    expect((await createJobs(store).list({ state: "done" })).items).toEqual([]);
  });

  it("goes to nobody when it was removed before a sender ran", async () => {
    const failures: unknown[] = [];
    const sender = makeSender({ onError: (error) => failures.push(error) });
    await sender.endpoints.create({ url: closed });
    const { id } = await sender.send({ name: "a", payload: {} });
    await store.collection(senderCollections.events).remove(id);
    sender.start();
    await expect.poll(() => store.collection(jobCollections.jobs).count()).toBe(0);
    expect([await sender.deliveries(), failures]).toEqual([[], []]);
  });

  it("keeps its deliveries out of the store while its job cannot end, and is tried again", async () => {
    const failures: unknown[] = [];
    const full = new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...given: unknown[]): unknown => {
          if (name !== "transaction" || failures.length > 0) {
            return Reflect.apply(method, target, given);
          }
          return Promise.reject(new Error("the disk is full"));
        };
      },
    });
    const first = makeSender();
    await first.endpoints.create({ url: closed });
    await first.send({ name: "a", payload: {} });
    const sender = makeSender({ store: full, onError: (error) => failures.push(error) });
    sender.start();
    await expect.poll(() => failures.length, { timeout: 5000 }).toBe(1);
    expect(await sender.deliveries()).toEqual([]);
    await expect.poll(async () => (await sender.deliveries()).length, { timeout: 5000 }).toBe(1);
  });
});

describe("pruning", () => {
  it("keeps an event whose job has not run", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 400 * day });
    const sender = makeSender({ onError: () => undefined });
    await sender.send({ id: "dead", name: "a", payload: {} });
    await store.collection(senderCollections.events).insert({ name: "a", payload: "{}" });
    const jobs = store.collection(jobCollections.jobs);
    const [job] = await jobs.find();
    const line = "dead/webhook-event/9999-12-31T23:59:59.999Z";
    await jobs.update(job?.id ?? "", { state: "dead", line });
    await sender.send({ id: "later", name: "a", payload: {} });
    const later = new Date(Date.now() + 800 * day).toISOString();
    const [other] = await jobs.find({ where: { state: "waiting" } });
    const delayed = { state: "delayed", dueAt: later, line: `delayed/webhook-event/${later}` };
    await jobs.update(other?.id ?? "", delayed as { state: "delayed" });
    vi.useRealTimers();
    sender.start();
    const ids = async (): Promise<readonly string[]> =>
      (await store.collection(senderCollections.events).find()).map(({ id }) => id).toSorted();
    await expect.poll(ids).toEqual(["dead", "later"]);
  });
});
