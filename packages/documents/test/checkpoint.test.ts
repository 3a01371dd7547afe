import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, type Collection, defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Text {
  text: string;
}

const texts = defineCollection<Text>("texts");
const MIB = 1024 * 1024;
/** SQLite checkpoints at 1,000 pages of 4 KiB; the log holds a header for each, and the last commit. */
const CHECKPOINT = 5 * MIB;
/** To what an idle log is cut. */
const IDLE = 64 * MIB;
const SIZE = 256 * 1024;

/** Replaces the text of one document, so that the file does not grow but the log would. */
async function write(collection: Collection<Text>, bytes: number): Promise<void> {
  for (let written = 0; written < bytes; written += SIZE) {
    // Another one on every page: SQLite writes no page that stays as it is.
    const text = `${written} `.padStart(16, "-").repeat(SIZE / 16);
    await collection.upsert({ text }, { id: "one" });
  }
}

async function open(): Promise<{
  readonly collection: Collection<Text>;
  readonly logSize: () => number;
  readonly snapshot: <R>(work: () => Promise<R>) => Promise<readonly string[]>;
  readonly close: () => Promise<boolean>;
}> {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [texts] });
  onTestFinished(() => store.close());
  return {
    collection: store.collection(texts),
    logSize: () => statSync(`${path}-wal`).size,
    snapshot: (work) =>
      administer(store).snapshot(async ({ records }) => {
        await work();
        const all = await Array.fromAsync(records(texts.name));
        return all.map(({ document }) => String(Object(document)["text"]).slice(0, 10));
      }),
    async close() {
      await store.close();
      return existsSync(`${path}-wal`);
    },
  };
}

describe("The write-ahead log", () => {
  it("is checkpointed under load, so that it does not grow", { timeout: 60_000 }, async () => {
    const { collection, logSize, close } = await open();
    for (let round = 0; round < 4; round += 1) {
      await write(collection, 8 * MIB);
      expect(logSize()).toBeLessThan(CHECKPOINT);
    }
    expect(await close()).toBe(false);
  });

  it("grows only while a reader holds a snapshot, which it does not disturb", { timeout: 60_000 }, async () => {
    const { collection, logSize, snapshot } = await open();
    await collection.insert({ text: "the moment" }, { id: "one" });
    const seen = await snapshot(async () => {
      await write(collection, 16 * MIB);
      expect(logSize()).toBeGreaterThan(16 * MIB);
    });
    expect(seen).toEqual(["the moment"]);
    const before = logSize();
    await write(collection, 48 * MIB);
    // One commit brings all of the log into the file, and the next one begins it anew.
    expect(logSize()).toBeLessThan(before + MIB);
  });

  it("is cut to 64 MiB after that", { timeout: 60_000 }, async () => {
    const { collection, logSize, snapshot, close } = await open();
    await snapshot(async () => {
      const text = "x".repeat(15 * MIB);
      for (let turn = 0; turn < 5; turn += 1) await collection.insert({ text });
      expect(logSize()).toBeGreaterThan(IDLE);
    });
    // The first commit brings the log into the file, the second one begins it anew.
    for (let turn = 0; turn < 2; turn += 1) await collection.insert({ text: "small" });
    expect(logSize()).toBe(IDLE);
    expect(await close()).toBe(false);
  });

  it("stays short while slow reads overlap all the time", { timeout: 120_000 }, async () => {
    const { collection, logSize } = await open();
    const many = Array.from({ length: 50_000 }, () => ({ text: "x".repeat(20) }));
    for (let turn = 0; turn < 4; turn += 1) await collection.insertMany(many);
    // What no index serves and takes a second, so that each of the two threads always has one.
    const or = Array.from({ length: 30 }, (_, turn) => ({ text: { prefix: `y${turn}` } }));
    let isOver = false;
    let reads = 0;
    const readers = Array.from({ length: 6 }, async () => {
      for (; !isOver; reads += 1) {
        expect(await collection.count({ where: { or } })).toBe(0);
      }
    });
    let longest = 0;
    for (let written = 0; written < 4 * IDLE; written += 2 * MIB) {
      await write(collection, 2 * MIB);
      longest = Math.max(longest, logSize());
    }
    isOver = true;
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(4);
    expect(longest).toBeLessThan(2 * IDLE);
  });
});
