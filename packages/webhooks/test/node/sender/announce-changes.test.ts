import { setTimeout as pause } from "node:timers/promises";
import { administer, defineCollection, openStore, type Store } from "@fetchwork/documents";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { WebhookUsageError } from "../../../src/errors.ts";
import type {
  AnnouncedChange,
  AnnouncedCollection,
} from "../../../src/node/sender/events/announce-changes.ts";
import { createSender, type Sender } from "../../../src/node/sender/create-sender.ts";
import type { SenderOptions } from "../../../src/node/sender/sender-options.ts";
import { senderCollections } from "../../../src/node/sender/sender-collections.ts";

interface Product {
  readonly name: string;
  readonly stock: number;
  readonly expiresAt?: number;
}

const products = defineCollection<Product>("products", {
  changes: "documents",
  unique: ["name"],
  expires: { field: "expiresAt" },
});

let store: Store;
let sender: Sender;
let errors: unknown[];

beforeEach(async () => {
  store = await openStore("sqlite::memory:", { collections: [products] });
  sender = createSender({ store });
  errors = [];
  await sender.endpoints.create({ url: "https://example.com/hooks" });
});
afterEach(async () => {
  await sender.stop({ grace: 0 });
  await store.close();
});

/** Starts a sender that announces changes. */
function announce(
  event: AnnouncedCollection["event"],
  options: Partial<SenderOptions> = {},
): Sender {
  const announcing = createSender({
    store,
    announce: [{ collection: products, event }],
    allowHttp: true,
    allowPrivate: true,
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(() => announcing.stop({ grace: 0 }));
  announcing.start();
  return announcing;
}

const full = ({ document, id, kind }: AnnouncedChange) => ({
  name: "product",
  payload: { action: kind, id, ...(document && { stock: document["stock"] }) },
});

/** What was sent, in no certain order. */
async function payloads(): Promise<readonly Record<string, unknown>[]> {
  const events = await store.collection(senderCollections.events).find();
  return events.map(({ payload }) => JSON.parse(payload));
}

async function stocks(): Promise<readonly number[]> {
  const all = (await payloads()).map(({ stock }) => Number(stock));
  return all.toSorted((left, right) => left - right);
}

/** What was sent with one key, in the order in which an endpoint gets it. */
async function stocksInOrder(): Promise<readonly unknown[]> {
  const [endpoint] = await sender.endpoints.list();
  const deliveries = store.collection(senderCollections.deliveries);
  const where = { endpointId: endpoint?.id ?? "" };
  const lane = await deliveries.find({ where, sort: ["place"] });
  const ids = lane.map(({ eventId }) => eventId);
  const events = await store.collection(senderCollections.events).getMany(ids);
  return events.map((event) => JSON.parse(event?.payload ?? "{}").stock);
}

describe("a sender that announces changes", () => {
  it("announces each change, whichever way it was made", async () => {
    announce(full);
    const all = store.collection(products);
    const { id } = await all.insert({ name: "a", stock: 9 });
    await all.increment(id, { stock: -2 });
    await all.update(id, { stock: 5 });
    await all.updateMany({ where: { name: "a" }, change: { stock: 4 } });
    await all.upsert({ name: "a", stock: 3 }, { by: ["name"] });
    await store.transaction(async (alone) => {
      await alone.collection(products).increment(id, { stock: -1 });
    });
    await all.removeMany({ where: { name: "a" } });
    await expect.poll(async () => (await payloads()).length).toBe(7);
    expect(await payloads()).toEqual(
      expect.arrayContaining([
        { action: "insert", id, stock: 9 },
        ...[7, 5, 4, 3, 2].map((stock) => ({ action: "update", id, stock })),
        { action: "remove", id },
      ]),
    );
    expect(errors).toEqual([]);
  });

  it("announces a document that expires", async () => {
    announce(full);
    const expiresAt = Date.now() + 60_000;
    const { id } = await store.collection(products).insert({ name: "a", stock: 1, expiresAt });
    await expect.poll(payloads).toEqual([{ action: "insert", id, stock: 1 }]);
    vi.useFakeTimers({ now: expiresAt, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await administer(store).sweep()).toBe(1);
    await expect.poll(payloads).toContainEqual({ action: "remove", id });
  });

  it("announces no change of a transaction that was undone", async () => {
    announce(full);
    const undone = store.transaction(async (alone) => {
      await alone.collection(products).insert({ name: "a", stock: 1 });
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    await store.collection(products).insert({ name: "b", stock: 2 });
    await expect.poll(payloads).toEqual([expect.objectContaining({ stock: 2 })]);
  });

  it("announces what was changed while nothing announced, and again after a failure, once", async () => {
    const all = store.collection(products);
    await all.insert({ name: "a", stock: 1 });
    let attempts = 0;
    const transaction = store.transaction.bind(store);
    const failing = vi.spyOn(store, "transaction").mockImplementation(async (work, options) => {
      attempts += 1;
      if (attempts <= 3) throw new Error("the store is away");
      return transaction(work, options);
    });
    onTestFinished(() => failing.mockRestore());
    announce((change) => ({ ...full(change), key: "all" }));
    await all.insert({ name: "b", stock: 2 });
    await expect.poll(stocksInOrder, { timeout: 10_000 }).toEqual([1, 2]);
    expect(errors.map(String)).toContain("Error: the store is away");
  });

  it("announces once what a process announced that was killed, though it was removed since", async () => {
    const all = store.collection(products);
    const { id } = await all.insert({ name: "a", stock: 1 });
    await pause(5);
    await all.update(id, { stock: 2 });
    const consume = store.consume.bind(store);
    let isKilled = false;
    const killed = vi.spyOn(store, "consume").mockImplementation((name, handle, options) =>
      consume(
        name,
        async (changes) => {
          await handle(changes);
          if (isKilled) return;
          isKilled = true;
          await all.remove(id);
          throw new Error("killed");
        },
        options,
      ),
    );
    onTestFinished(() => killed.mockRestore());
    announce((change) => ({
      name: "product",
      payload: { action: change.kind, createdAt: change.document?.createdAt },
    }));
    const actions = async (): Promise<readonly string[]> => {
      const all = (await payloads()).map(({ action }) => String(action));
      return all.toSorted((left, right) => left.localeCompare(right));
    };
    await expect.poll(actions, { timeout: 10_000 }).toEqual(["insert", "remove", "update"]);
    expect(errors.map(String)).toEqual(["Error: killed"]);
  });

  it("leaves out a change whose event throws, and goes on", async () => {
    announce((change) => {
      if (change.document?.["stock"] === 1) throw new RangeError("invalid time");
      return full(change);
    });
    const all = store.collection(products);
    for (const stock of [1, 2, 3]) await all.insert({ name: `n${stock}`, stock });
    await expect.poll(stocks).toEqual([2, 3]);
    expect(errors).toEqual([expect.any(RangeError)]);
  });

  it("keeps the order of changes when a schema takes longer for the first one", async () => {
    await sender.endpoints.create({ url: "https://example.com/hooks" });
    const all = store.collection(products);
    const { id } = await all.insert({ name: "a", stock: 0 });
    for (const stock of [1, 2]) await all.update(id, { stock });
    const validate = async (value: unknown): Promise<{ readonly value: unknown }> => {
      if (JSON.stringify(value).includes('"stock":0')) await pause(20);
      return { value };
    };
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    announce((change) => ({ ...full(change), key: id }), { eventTypes: { product: { schema } } });
    await expect.poll(stocksInOrder).toEqual([0, 1, 2]);
  });

  it("announces collections that another program on the store does not, without a gap", async () => {
    const orders = defineCollection<{ total: number }>("orders", { changes: "documents" });
    const first = announce(full);
    await store.collection(orders).insert({ total: 1 });
    await store.collection(products).insert({ name: "a", stock: 1 });
    await expect.poll(async () => (await payloads()).length).toBe(1);
    const second = createSender({
      store,
      announce: [
        { collection: products, event: full },
        { collection: orders, event: ({ id }) => ({ name: "order", payload: { id } }) },
      ],
      allowHttp: true,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => second.stop({ grace: 0 }));
    second.start();
    await expect.poll(async () => (await payloads()).length).toBe(2);
    await first.stop({ grace: 0 });
  });

  it("shows a document in the trash with the time of its creation", async () => {
    const notes = defineCollection<{ text: string }>("notes", {
      changes: "documents",
      softDelete: true,
    });
    const { createdAt, id } = await store.collection(notes).insert({ text: "a" });
    await store.collection(notes).remove(id);
    const seen: unknown[] = [];
    const announcing = createSender({
      store,
      announce: [
        {
          collection: notes,
          event: ({ document }) => {
            seen.push(document?.createdAt);
            return undefined;
          },
        },
      ],
    });
    onTestFinished(() => announcing.stop({ grace: 0 }));
    announcing.start();
    await expect.poll(() => seen).toEqual([createdAt, createdAt]);
  });

  it("goes on where another one stopped", async () => {
    const first = announce(full);
    const all = store.collection(products);
    await all.insert({ name: "a", stock: 1 });
    await expect.poll(async () => (await payloads()).length).toBe(1);
    await first.stop({ grace: 0 });
    await all.insert({ name: "b", stock: 2 });
    announce(full);
    await expect.poll(stocks).toEqual([1, 2]);
  });

  it("shows documents with what the store keeps of them", async () => {
    const seen: AnnouncedChange[] = [];
    announce((change) => {
      seen.push(change);
      return full(change);
    });
    const all = store.collection(products);
    const stored = await all.insert({ name: "a", stock: 1 });
    const changed = await all.update(stored.id, { stock: 2 });
    await expect.poll(() => seen.length).toBe(2);
    expect(seen[1]?.document).toEqual(changed);
  });

  it("leaves out what is not announced and what cannot be sent, and reports the latter", async () => {
    announce((change) => {
      if (change.document?.["stock"] === 0) return undefined;
      return { name: change.document?.["stock"] === 1 ? "no name" : "product", payload: {} };
    });
    const all = store.collection(products);
    await all.insertMany([0, 1, 2].map((stock) => ({ name: `n${stock}`, stock })));
    await expect.poll(payloads).toEqual([{}]);
    expect(errors).toEqual([expect.any(WebhookUsageError)]);
  });

  it("stores no events while no endpoint is enabled", async () => {
    const [endpoint] = await sender.endpoints.list();
    await sender.endpoints.update(endpoint?.id ?? "", { status: "disabled" });
    const seen: string[] = [];
    announce(({ id }) => {
      seen.push(id);
      return { name: "product", payload: {} };
    });
    const all = store.collection(products);
    await all.insert({ name: "a", stock: 1 });
    await store.consume("test", () => {}, { atEnd: "end" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sender.endpoints.update(endpoint?.id ?? "", { status: "enabled" });
    const { id } = await all.insert({ name: "b", stock: 2 });
    await expect.poll(() => seen).toEqual([id]);
  });

  it("throws for a collection whose changes are not recorded with their documents", () => {
    for (const changes of ["ids", undefined] as const) {
      const collection = defineCollection<Product>("others", { changes });
      expect(() => createSender({ store, announce: [{ collection, event: full }] })).toThrow(
        'changes of others are not recorded: define it with changes: "documents"',
      );
    }
  });
});
