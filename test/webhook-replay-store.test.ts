import { defineCollection, openStore } from "@fetchwork/documents";
import { collectionReplayStore, type ReplayDocument, Webhooks } from "@fetchwork/webhooks";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const deliveries = defineCollection<ReplayDocument>("webhook-deliveries", { indexes: ["until"] });
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fetchwork-replay-"));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

it("a collection remembers deliveries over a restart", async () => {
  let calls = 0;
  for (let run = 0; run < 2; run += 1) {
    await using store = await openStore(`sqlite:${join(folder, "replay.db")}`);
    const replay = { store: collectionReplayStore(store.collection(deliveries)) };
    const log = { warn: () => undefined };
    const webhooks = new Webhooks({ secret: "s", vendor: fetchwork, replay, log });
    webhooks.onAny(() => (calls += 1));
    const payload = '{"a":1}';
    const timestamp = Math.floor(Date.now() / 1000);
    const message = { id: "1", timestamp, body: payload };
    const signed = await fetchwork.scheme.createKey("s").sign(message);
    const headers = { ...signed, "webhook-event": "push" };
    await webhooks.verifyAndReceive({ payload, headers });
    await webhooks.verifyAndReceive({ payload, headers });
  }
  expect(calls).toBe(1);
});

it("a collection lets one of many claim a delivery, and another one after its lease expired", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1000 });
  await using store = await openStore("sqlite::memory:");
  const replay = collectionReplayStore(store.collection(deliveries));
  const claim = () =>
    Promise.all(Array.from({ length: 20 }, async () => replay.claim("vendor:a", 50)));
  expect((await claim()).filter((state) => state === "new")).toHaveLength(1);
  vi.setSystemTime(1050);
  expect((await claim()).filter((state) => state === "new")).toHaveLength(1);
  await replay.release("vendor:a");
  expect(await replay.claim("vendor:a", 50)).toBe("new");
  await replay.complete("vendor:a", 100);
  expect(await replay.claim("vendor:a", 50)).toBe("done");
  vi.setSystemTime(1150);
  expect(await replay.claim("vendor:a", 50)).toBe("new");
});

it("a collection removes expired deliveries", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1000 });
  await using store = await openStore("sqlite::memory:");
  const collection = store.collection(deliveries);
  const replay = collectionReplayStore(collection);
  for (let index = 0; index < 999; index += 1) await replay.claim(`vendor:${index}`, 50);
  vi.setSystemTime(1100);
  await replay.claim("vendor:last", 50);
  expect(await collection.count()).toBe(1);
});
