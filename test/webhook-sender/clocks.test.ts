import { openStore, type Store } from "@fetchwork/documents";
import { createSender, type Sender, senderCollections } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { startReceiver } from "./receiver.ts";

let store: Store;
let sender: Sender;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  sender = createSender({ store, allowHttp: true, allowPrivate: true, pollInterval: 20 });
  onTestFinished(async () => {
    await sender.stop({ grace: 0 });
    await store.close();
  });
});

afterEach(() => vi.useRealTimers());

it.each([undefined, "order-7"])(
  "an event of a process whose clock is ahead is delivered at once: key %s",
  async (key) => {
    await using receiver = await startReceiver();
    await sender.endpoints.create({ url: receiver.url });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    await sender.send({ name: "order", payload: {}, key });
    vi.useRealTimers();
    sender.start();
    await receiver.until(1);
  },
);

it("replayAll() takes what a process gave up whose clock is ahead", async () => {
  const at = new Date(Date.now() + 60_000).toISOString();
  const ids = { eventId: "e", eventName: "order", endpointId: "none" };
  const rest = { dueAt: at, expiresAt: at, attempts: 1, history: [], settledAt: at };
  const deliveries = store.collection(senderCollections.deliveries);
  await deliveries.insert({ ...ids, ...rest, status: "dead", deadReason: "expired" });
  expect(await sender.replayAll()).toBe(1);
  expect(await sender.deliveries({ status: "pending" })).toHaveLength(1);
});
