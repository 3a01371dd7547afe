import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { allEngines } from "../open-for-test.ts";

interface Session {
  key: string;
  until?: unknown;
}

const startTime = Date.parse("2030-01-01T00:00:00.000Z");
const options = { unique: ["key"], search: ["key"] } as const;
const sessions = defineCollection<Session>("sessions", {
  ...options,
  expires: { field: "until", after: 1000 },
});
const idle = defineCollection<Session>("idle", { expires: { field: "updatedAt", after: 5000 } });

beforeEach(() => {
  vi.useFakeTimers({ now: startTime, toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(allEngines)("A document that expires in %s", (_name, open) => {
  it("is gone from every answer when its time comes", async () => {
    const collection = (await open()).collection(sessions);
    const { id } = await collection.insert({ key: "alpha", until: "2030-01-01T00:00:01Z" });
    vi.setSystemTime(startTime + 1999);
    expect(await collection.get(id)).toMatchObject({ key: "alpha" });
    expect(await collection.count()).toBe(1);
    vi.setSystemTime(startTime + 2000);
    expect(await collection.get(id)).toBeUndefined();
    expect(await collection.getMany([id])).toEqual([undefined]);
    expect(await collection.find({ q: "alpha" })).toEqual([]);
    expect(await collection.count()).toBe(0);
    expect(await collection.count({ where: { key: "alpha" } })).toBe(0);
    expect(await collection.update(id, { until: null })).toBeUndefined();
    expect(await collection.remove(id)).toBe(false);
    expect(await collection.removeMany({ where: {} })).toBe(0);
  });

  it("is gone for a change of its version, or under its lease, too", async () => {
    const collection = (await open()).collection(sessions);
    const { id } = await collection.insert({ key: "a", until: startTime });
    const [lease] = await collection.claim({ expiry: 60_000 });
    vi.setSystemTime(startTime + 1000);
    for (const options of [{ ifVersion: 1 }, { ifVersion: 2 }, { lease: lease?.token }]) {
      expect(await collection.remove(id, options)).toBe(false);
      expect(await collection.update(id, { key: "b" }, options)).toBeUndefined();
      expect(await collection.replace(id, { key: "b" }, options)).toBeUndefined();
    }
  });

  it("is in nobody's way before it is removed", async () => {
    const collection = (await open()).collection(sessions);
    const { id } = await collection.insert({ key: "a", until: startTime });
    const other = await collection.insert({ key: "b" });
    await expect(collection.insert({ key: "a" })).rejects.toMatchObject({ fields: ["key"] });
    vi.setSystemTime(startTime + 1000);
    expect(await collection.insert({ key: "a" }, { id })).toMatchObject({ id, version: 1 });
    await collection.insert({ key: "c", until: startTime + 1 });
    vi.setSystemTime(startTime + 3000);
    expect(await collection.update(other.id, { key: "c" })).toMatchObject({ key: "c" });
    await expect(collection.update(other.id, { key: "a" })).rejects.toMatchObject({
      fields: ["key"],
    });
  });

  it.each([
    ["no time", undefined],
    ["null", null],
    ["text", "tomorrow"],
    ["a time without a zone", "2030-01-01T00:00:00"],
    ["an object", {}],
    ["a time that is impossible", "2030-13-01"],
    ["a number beyond all times", 1e300],
  ])("is none with %s in the field", async (_text, until) => {
    const collection = (await open()).collection(sessions);
    await collection.insert({ key: "a", until });
    vi.setSystemTime(startTime + 1e12);
    expect(await collection.count()).toBe(1);
  });

  it("lives on with each change when the time is the one of the last change", async () => {
    const collection = (await open()).collection(idle);
    const { id } = await collection.insert({ key: "a" });
    vi.setSystemTime(startTime + 4000);
    await collection.update(id, { key: "b" });
    vi.setSystemTime(startTime + 8999);
    expect(await collection.get(id)).toMatchObject({ key: "b" });
    vi.setSystemTime(startTime + 9000);
    expect(await collection.get(id)).toBeUndefined();
  });
});
