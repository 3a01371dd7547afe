import { openStore, type Store } from "@fetchwork/documents";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const day = 86_400_000;
let store: Store;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
});

afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

describe("pruning", () => {
  it("keeps pending and replayed deliveries with their events", async () => {
    const then = Date.now() - 400 * day;
    vi.useFakeTimers({ toFake: ["Date"], now: then });
    const sender = createSender({ store, onError: () => {} });
    const events = store.collection(senderCollections.events);
    const deliveries = store.collection(senderCollections.deliveries);
    const { id: endpointId } = await sender.endpoints.create({ url: "https://example.com/" });
    const far = new Date(then + 800 * day).toISOString();
    const old = new Date(then + day).toISOString();
    const rest = { eventName: "a", expiresAt: far, attempts: 1, history: [], dueAt: far };
    for (const eventId of ["pending", "replayed", "settled", "nobody"]) {
      await events.insert({ name: "a", payload: "{}" }, { id: eventId });
    }
    await deliveries.insertMany([
      { ...rest, eventId: "pending", endpointId, status: "pending" },
      { ...rest, eventId: "replayed", endpointId, status: "delivered", settledAt: old },
      { ...rest, eventId: "settled", endpointId, status: "delivered", settledAt: old },
      { ...rest, eventId: "settled", endpointId: "other", status: "dead", settledAt: old },
    ]);
    const [replayed] = await sender.deliveries({ eventId: "replayed" });
    await sender.replay(replayed?.id ?? "");
    await deliveries.update(replayed?.id ?? "", { dueAt: far });
    vi.useRealTimers();
    sender.start();
    await expect.poll(() => events.count()).toBe(2);
    expect((await sender.deliveries()).map(({ eventId }) => eventId).toSorted()).toEqual([
      "pending",
      "replayed",
    ]);
    expect((await events.find()).map(({ id }) => id).toSorted()).toEqual(["pending", "replayed"]);
    await sender.stop();
  });

  it("continues past deliveries that must stay, and ends when the sender has stopped", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 400 * day });
    const events = store.collection(senderCollections.events);
    const deliveries = store.collection(senderCollections.deliveries);
    const far = new Date(Date.now() + 800 * day).toISOString();
    const rest = { eventName: "a", expiresAt: far, attempts: 1, history: [], dueAt: far };
    await store.transaction(async (transaction) => {
      const inside = transaction.collection(senderCollections.events);
      for (let n = 0; n < 700; n += 1)
        await inside.insert({ name: "a", payload: "{}" }, { id: `e${n}` });
    });
    const needed = Array.from({ length: 350 }, (_, n) => `e${2 * n}`);
    await deliveries.insertMany(
      needed.map((eventId) => ({ ...rest, eventId, endpointId: "x", status: "pending" as const })),
    );
    vi.useRealTimers();
    const sender = createSender({ store });
    sender.start();
    await sender.stop();
    const left = (await events.find()).map(({ id }) => id);
    expect(left.toSorted()).toEqual(needed.toSorted());
  });
});
