import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { allEngines } from "../open-for-test.ts";

interface Job {
  state: "done" | "open";
  rank: number;
}

const jobs = defineCollection<Job>("jobs", { indexes: [["state", "rank"]] });
const startTime = new Date("2030-01-01T00:00:00.000Z");

describe.each(allEngines)("A lease in %s", (_name, open) => {
  beforeEach(() => {
    vi.useFakeTimers({ now: startTime, toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([{ limit: 0 }, { limit: 1001 }, { expiry: 0 }, { expiry: 86_400_001 }])(
    "is refused with %j",
    async (query) => {
      const collection = (await open()).collection(jobs);
      await expect(collection.claim(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    },
  );

  it("is of the first documents that the query selects", async () => {
    const collection = (await open()).collection(jobs);
    await collection.insertMany([3, 1, 2].map((rank) => ({ state: "open", rank })));
    await collection.insert({ state: "done", rank: 0 });
    const leases = await collection.claim({ where: { state: "open" }, sort: ["rank"], limit: 2 });
    expect(leases.map(({ document }) => document.rank)).toEqual([1, 2]);
    expect(leases[0]).toMatchObject({ attempt: 1, until: "2030-01-01T00:01:00.000Z" });
    expect(leases[0]?.token).not.toBe(leases[1]?.token);
  });

  it("is given to one of many that claim at the same time", async () => {
    const collection = (await open()).collection(jobs);
    await collection.insertMany(
      Array.from({ length: 50 }, (_, rank): Job => ({ state: "open", rank })),
    );
    const claims = await Promise.all(Array.from({ length: 60 }, () => collection.claim()));
    const ids = claims.flat().map(({ document }) => document.id);
    expect(new Set(ids).size).toBe(50);
    expect(ids).toHaveLength(50);
  });

  it("lets its holder remove the document, and nobody else's lease is touched", async () => {
    const collection = (await open()).collection(jobs);
    await collection.insertMany([1, 2].map((rank) => ({ state: "open", rank })));
    const [one, other] = await collection.claim({ sort: ["rank"], limit: 2 });
    if (one === undefined || other === undefined) throw new Error("not claimed");
    expect(await collection.remove(one.document.id, { lease: one.token })).toBe(true);
    expect(await collection.get(one.document.id)).toBeUndefined();
    expect(await collection.renew(other)).toBe(true);
  });

  it("ends with its time, so that somebody else may claim the document", async () => {
    const collection = (await open()).collection(jobs);
    const { id } = await collection.insert({ state: "open", rank: 1 });
    const [first] = await collection.claim({ expiry: 1000 });
    vi.setSystemTime(startTime.getTime() + 999);
    expect(await collection.claim()).toEqual([]);
    vi.setSystemTime(startTime.getTime() + 1000);
    const [second] = await collection.claim({ expiry: 1000 });
    expect(second).toMatchObject({ document: { id }, attempt: 2 });
    if (first === undefined || second === undefined) throw new Error("not claimed");
    expect(await collection.renew(first)).toBe(false);
    expect(await collection.release(first)).toBe(false);
    await expect(
      collection.update(id, { state: "done" }, { lease: first.token }),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_LEASE" });
    await expect(collection.remove(id, { lease: first.token })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_LEASE",
    });
    expect(await collection.update(id, { state: "done" }, { lease: second.token })).toMatchObject({
      state: "done",
    });
    expect(await collection.claim()).toEqual([]);
    expect(await collection.release(second)).toBe(true);
    expect(await collection.claim()).toMatchObject([{ attempt: 1 }]);
  });

  it("is extended from now on", async () => {
    const collection = (await open()).collection(jobs);
    await collection.insert({ state: "open", rank: 1 });
    const [lease] = await collection.claim({ expiry: 1000 });
    if (lease === undefined) throw new Error("not claimed");
    vi.setSystemTime(startTime.getTime() + 900);
    expect(await collection.renew(lease, 1000)).toBe(true);
    vi.setSystemTime(startTime.getTime() + 1800);
    expect(await collection.claim()).toEqual([]);
    vi.setSystemTime(startTime.getTime() + 1900);
    expect(await collection.renew(lease, 1000)).toBe(false);
  });

  it("shows its token to nobody who reads the document", async () => {
    const collection = (await open()).collection(jobs);
    await collection.insert({ state: "open", rank: 1 });
    const [lease] = await collection.claim();
    expect(JSON.stringify(await collection.find())).not.toContain(lease?.token);
  });

  it("is given and finished together with other changes", async () => {
    const store = await open();
    const { id } = await store.collection(jobs).insert({ state: "open", rank: 1 });
    await expect(
      store.transaction(async (tx) => {
        await tx.collection(jobs).claim();
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    const [lease] = await store.collection(jobs).claim();
    expect(lease).toMatchObject({ attempt: 1, document: { id } });
  });

  it("is over when its document is removed, also for the next one of the id", async () => {
    const collection = (await open()).collection(jobs);
    const again = async (): Promise<void> => {
      await collection.insert({ state: "open", rank: 1 }, { id: "a" });
      expect(await collection.claim()).toMatchObject([{ document: { id: "a" }, attempt: 1 }]);
    };
    await again();
    await collection.remove("a");
    await again();
    await collection.removeMany({ where: { rank: 1 } });
    await again();
  });
});
