import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, type Collection, defineCollection, openStore } from "../src/index.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { Writer } from "../src/engines/sqlite/writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Text {
  text: string;
}

const texts = defineCollection<Text>("texts");
const mebibyte = 1024 * 1024;
/**
 * SQLite checkpoints at 1,000 pages of 4 KiB; the log holds a header for each, and the last commit.
 */
const checkpoint = 5 * mebibyte;
/** To what an idle log is cut. */
const idleLogSize = 64 * mebibyte;
const documentSize = 256 * 1024;

/** Replaces the text of one document, so that the file does not grow but the log would. */
async function write(collection: Collection<Text>, bytes: number): Promise<void> {
  for (let written = 0; written < bytes; written += documentSize) {
    // Another one on every page: SQLite writes no page that stays as it is.
    const text = `${written} `.padStart(16, "-").repeat(documentSize / 16);
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
      await write(collection, 8 * mebibyte);
      expect(logSize()).toBeLessThan(checkpoint);
    }
    expect(await close()).toBe(false);
  });

  it(
    "grows only while a reader holds a snapshot, which it does not disturb",
    { timeout: 60_000 },
    async () => {
      const { collection, logSize, snapshot } = await open();
      await collection.insert({ text: "the moment" }, { id: "one" });
      const seen = await snapshot(async () => {
        await write(collection, 16 * mebibyte);
        expect(logSize()).toBeGreaterThan(16 * mebibyte);
      });
      expect(seen).toEqual(["the moment"]);
      const before = logSize();
      await write(collection, 48 * mebibyte);
      // One commit brings all of the log into the file, and the next one begins it again.
      expect(logSize()).toBeLessThan(before + mebibyte);
    },
  );

  it("is cut to 64 MiB after that", { timeout: 60_000 }, async () => {
    const { collection, logSize, snapshot, close } = await open();
    await snapshot(async () => {
      const text = "x".repeat(15 * mebibyte);
      for (let turn = 0; turn < 5; turn += 1) await collection.insert({ text });
      expect(logSize()).toBeGreaterThan(idleLogSize);
    });
    // The first commit brings the log into the file, the second one begins it again.
    for (let turn = 0; turn < 2; turn += 1) await collection.insert({ text: "small" });
    expect(logSize()).toBe(idleLogSize);
    expect(await close()).toBe(false);
  });

  it("is emptied between two changes by who asks for it", async () => {
    const path = join(temporaryFolder(), "a.db");
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    const connection = new Connection(database);
    onTestFinished(() => {
      connection.close();
    });
    const writer = new Writer(connection, {
      ready: new Set(),
      seen: new Map(),
      onRecorded: () => undefined,
      onUnbuilt: () => undefined,
      onPrepared: () => undefined,
      busyTimeout: 0,
    });
    const insert = (): Promise<number> =>
      writer.write((session) => session.connection.insert("INSERT INTO t VALUES (1)", []));
    const begun = Promise.withResolvers<undefined>();
    const going = Promise.withResolvers<undefined>();
    const transaction = writer.transaction(async () => {
      begun.resolve(undefined);
      await going.promise;
      return statSync(`${path}-wal`).size;
    }, 10_000);
    await begun.promise;
    const size = (): number => statSync(`${path}-wal`).size;
    const emptied = Promise.all([writer.checkpoint().then(size), writer.checkpoint().then(size)]);
    going.resolve(undefined);
    expect(await transaction).toBeGreaterThan(0);
    expect(await emptied).toEqual([0, 0]);
    await insert();
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await writer.checkpoint();
    expect(statSync(`${path}-wal`).size).toBe(0);
  });
});
