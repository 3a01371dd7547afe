import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { enlargeDisk, makeDisk, noDiskReason, writeUntilRefused } from "./disk.ts";
import { counters } from "./process-collections.ts";

const otherProcess = fileURLToPath(new URL("ownership-process.ts", import.meta.url));
const mebibyte = 1024 * 1024;
const reserveSize = 5 * mebibyte;

const posts = defineCollection<{ text: string }>("posts", { softDelete: true, search: ["text"] });
const visits = defineCollection<{ until: string; text: string }>("visits", {
  expires: { field: "until" },
});
const collections = [counters, posts, visits];

interface Full {
  readonly disk: string;
  readonly path: string;
  readonly store: Store;
  /** Names of the documents that were acknowledged. */
  readonly names: readonly string[];
}

async function open(path: string): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, { collections });
  onTestFinished(() => store.close());
  return store;
}

function reserveOf(path: string): number | undefined {
  return statSync(`${path}-reserve`, { throwIfNoEntry: false })?.size;
}

/** Uses up what a disk has left with another file. */
async function fillWithOther(disk: string): Promise<void> {
  const path = join(disk, "other");
  for (let size = mebibyte; size >= 1; size = Math.floor(size / 2)) {
    for (;;) {
      try {
        await appendFile(path, "x".repeat(size));
      } catch {
        break;
      }
    }
  }
}

/** Fills a disk with documents until even small ones are refused, and with another file. */
async function fillDisk(prepare?: (store: Store) => Promise<void>): Promise<Full> {
  const disk = makeDisk((prepare === undefined ? 28 : 40) * mebibyte);
  const path = join(disk, "a.db");
  const store = await open(path);
  await prepare?.(store);
  const { names } = await writeUntilRefused(store);
  expect(reserveOf(path)).toBe(reserveSize);
  const small = await writeUntilRefused(store, 3);
  expect(small.error).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
  await fillWithOther(disk);
  return { disk, path, store, names: [...names, ...small.names] };
}

async function namesOf(store: Store): Promise<readonly string[]> {
  const found = await store.collection(counters).find({ fields: ["name"] });
  return found.map(({ name }) => name).toSorted();
}

/** Adds documents as large as those that the disk was filled with. */
async function add(store: Store, prefix: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, at) => `${prefix} ${at} ${"y".repeat(4000)}`);
  for (const name of names) await store.collection(counters).insert({ name, value: 2 });
  return names;
}

async function expectSound(store: Store, names: readonly string[]): Promise<void> {
  expect(await namesOf(store)).toEqual(names.toSorted());
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
}

async function removeMany(store: Store, names: readonly string[]): Promise<void> {
  let count = 0;
  for (let first = 0; first < names.length; first += 5000) {
    const where = { name: { in: names.slice(first, first + 5000) } };
    count += await store.collection(counters).removeMany({ where });
  }
  expect(count).toBe(names.length);
}

describe.skipIf(noDiskReason !== undefined)("On a full disk", { timeout: 180_000 }, () => {
  it("documents are removed, and others take their place", async () => {
    const { store, names, path } = await fillDisk();
    const collection = store.collection(counters);
    const [first] = await collection.find({ where: { name: names[0] ?? "" } });
    expect(await collection.remove(first?.id ?? "")).toBe(true);
    expect(reserveOf(path)).toBe(0);
    const one = "in its place";
    await collection.insert({ name: one, value: 2 });
    await removeMany(store, names.slice(1, 1001));
    const many = await add(store, "many", 900);
    await expectSound(store, [...names.slice(1001), one, ...many]);
  });

  it("that goes on round after round, and with another store's files growing", async () => {
    const { disk, store, names, path } = await fillDisk();
    let held = names;
    for (let round = 0; round < 5; round += 1) {
      await removeMany(store, held.slice(0, 1000));
      await fillWithOther(disk);
      const more = await add(store, `round ${round}`, 800);
      const { error, names: last } = await writeUntilRefused(store, 300);
      expect(error).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
      // The next round has the same names.
      await removeMany(store, last);
      held = [...held.slice(1000), ...more];
    }
    await expectSound(store, held);
    expect(reserveOf(path)).toBe(0);
  });

  it("removed documents that are kept are purged", async () => {
    const { store, names } = await fillDisk(async (filled) => {
      const collection = filled.collection(posts);
      const text = "some words and ".repeat(200);
      const added = await collection.insertMany(Array.from({ length: 1000 }, () => ({ text })));
      for (const { id } of added.slice(0, 900)) await collection.remove(id);
    });
    const collection = store.collection(posts);
    const [kept] = await collection.find({ limit: 1 });
    expect(await collection.remove(kept?.id ?? "")).toBe(true);
    expect(await collection.purge(kept?.id ?? "")).toBe(true);
    expect(await collection.purgeMany({})).toBe(900);
    const added = await add(store, "after", 400);
    expect(await collection.count({})).toBe(99);
    await expectSound(store, [...names, ...added]);
  });

  it("expired documents are removed by the sweep", async () => {
    const { store, names } = await fillDisk(async (filled) => {
      const expired = { until: "2020-01-01T00:00:00.000Z", text: "x".repeat(3000) };
      await filled.collection(visits).insertMany(Array.from({ length: 1000 }, () => expired));
    });
    expect(await administer(store).sweep()).toBe(1000);
    const added = await add(store, "after", 400);
    await expectSound(store, [...names, ...added]);
  });

  it("a store is opened again, and then documents are removed", async () => {
    const { disk, path, store, names } = await fillDisk();
    await store.close();
    await fillWithOther(disk);
    const again = await open(path);
    await removeMany(again, names.slice(0, 1000));
    const added = await add(again, "after", 900);
    await again.close();
    await fillWithOther(disk);
    const third = await open(path);
    await removeMany(third, added);
    const last = await add(third, "last", 800);
    await expectSound(third, [...names.slice(1000), ...last]);
  });

  it("documents are removed while another process has the file open", async () => {
    const { path, store, names } = await fillDisk();
    const other = fork(otherProcess, [path], {
      execArgv: ["--conditions=@fetchwork/source"],
      silent: true,
    });
    onTestFinished(() => void other.kill());
    if (other.stdout === null) throw new Error("the process has no output");
    const [said] = await once(other.stdout, "data");
    expect(String(said)).toBe("open\n");
    await removeMany(store, names.slice(0, 1000));
    const added = await add(store, "after", 900);
    await expectSound(store, [...names.slice(1000), ...added]);
  });

  it("a store takes all the room of a disk that was made larger", async () => {
    const { disk, path, store, names } = await fillDisk();
    await removeMany(store, names.slice(0, 10));
    const { names: more } = await writeUntilRefused(store, 4000);
    enlargeDisk(disk, 48 * mebibyte);
    const added = await add(store, "after", 2000);
    expect(reserveOf(path)).toBe(reserveSize);
    await expectSound(store, [...names.slice(10), ...more, ...added]);
  });

  it("a removal waits for nothing but the log where no reserve was made", async () => {
    const disk = makeDisk(8 * mebibyte);
    const path = join(disk, "a.db");
    const store = await open(path);
    const { error, names } = await writeUntilRefused(store);
    expect(error).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
    expect(reserveOf(path)).toBeUndefined();
    const collection = store.collection(counters);
    const where = { name: { in: names } };
    await collection.removeMany({ where }).catch((failure: unknown) => {
      expect(failure).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
    });
    enlargeDisk(disk, 24 * mebibyte);
    await add(store, "after", 500);
  });
});

describe("The reserve of a store", () => {
  it.skipIf(noDiskReason !== undefined)(
    "is made of real blocks once the store is large, and again when it is short",
    async () => {
      const disk = makeDisk(64 * mebibyte);
      const path = join(disk, "a.db");
      const store = await open(path);
      await store.collection(counters).insert({ name: "small", value: 1 });
      await store.close();
      const large = await open(path);
      expect(existsSync(`${path}-reserve`)).toBe(false);
      await add(large, "large", 2000);
      await vi.waitFor(() => {
        const { size, blocks, mode } = statSync(`${path}-reserve`);
        expect([size, blocks * 512, mode & 0o777]).toEqual([reserveSize, reserveSize, 0o600]);
      });
      await large.close();
      truncateSync(`${path}-reserve`, mebibyte);
      const again = await open(path);
      await vi.waitFor(() => {
        expect(reserveOf(path)).toBe(reserveSize);
      });
      await again.close();
      rmSync(`${path}-reserve`);
      await open(path);
      await vi.waitFor(() => {
        expect(reserveOf(path)).toBe(reserveSize);
      });
    },
  );

  it.skipIf(noDiskReason !== undefined)("that cannot be made is no error", async () => {
    const path = join(makeDisk(64 * mebibyte), "a.db");
    // A folder of files in its place: neither can it be written nor removed.
    mkdirSync(`${path}-reserve`);
    writeFileSync(join(`${path}-reserve`, "file"), "");
    const store = await open(path);
    const added = await add(store, "added", 2000);
    await expectSound(store, added);
  });
});
