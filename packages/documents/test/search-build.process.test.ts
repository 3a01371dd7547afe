import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { administer, openStore } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres } from "./postgres-server.ts";
import { byText, byTitle, earlyNotes } from "./search-build-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const writer = fileURLToPath(new URL("search-build-writer.ts", import.meta.url));
const closer = fileURLToPath(new URL("search-build-closer.ts", import.meta.url));
const waiter = fileURLToPath(new URL("search-build-waiter.ts", import.meta.url));
const rounds = 3;

/**
 * Runs a program that builds and writes, kills it after some acknowledgements, and returns the ids
 * that it wrote.
 */
async function writeUntilKilled(url: string): Promise<readonly string[]> {
  const args = ["--conditions=@fetchwork/source", writer, url];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const enough = 1 + Math.floor(Math.random() * 40);
  const ids: string[] = [];
  for await (const id of createInterface({ input: child.stdout })) {
    ids.push(id);
    if (ids.length === enough) child.kill("SIGKILL");
  }
  expect((await exit)[1]).toBe("SIGKILL");
  return ids;
}

async function writeEarlyNotes(url: string): Promise<void> {
  const old = await openStore(url, { collections: [byTitle] });
  await old
    .collection(byTitle)
    .insertMany(
      Array.from({ length: earlyNotes }, (_, index) => ({ title: `old ${index}`, text: "early" })),
    );
  await old.close();
}

async function expectAllFound(url: string): Promise<void> {
  await writeEarlyNotes(url);
  const written: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const both = await Promise.all([writeUntilKilled(url), writeUntilKilled(url)]);
    written.push(...both.flat());
  }

  const store = await openStore(url, { collections: [byText] });
  const notes = store.collection(byText);
  expect(await notes.count({ q: "early" })).toBe(earlyNotes);
  await administer(store).built();
  expect(await notes.count({ q: "early" })).toBe(earlyNotes);
  const late = await notes.find({ q: "second" });
  const ids = new Set(late.map(({ id }) => id));
  expect(written.filter((id) => !ids.has(id))).toEqual([]);
  expect(late).toHaveLength(await notes.count({ where: { text: "second" } }));
  expect(await administer(store).plan({ collections: [byText] })).toEqual([
    { kind: "unused-search", collection: "notes", fields: ["title"] },
  ]);
  await store.close();

  const again = await openStore(url, { collections: [byTitle] });
  expect(await again.collection(byTitle).count({ q: "old" })).toBe(earlyNotes);
  const lateByTitle = await again.collection(byTitle).find({ q: "late" });
  expect(lateByTitle).toHaveLength(
    await again.collection(byTitle).count({ where: { title: "late" } }),
  );
  expect(await administer(again).check()).toEqual({ ok: true, problems: [] });
  await again.close();
}

it("A program that closes the store during a build ends as usual", async () => {
  const url = `sqlite:${join(temporaryFolder(), "a.db")}`;
  await writeEarlyNotes(url);
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", closer, url], {
    stdio: "inherit",
  });
  expect(await once(child, "exit")).toEqual([0, null]);
}, 60_000);

it("A program that waits for a build does not end before it", async () => {
  const url = `sqlite:${join(temporaryFolder(), "a.db")}`;
  await writeEarlyNotes(url);
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", waiter, url], {
    stdio: "inherit",
  });
  expect(await once(child, "exit")).toEqual([0, null]);
}, 60_000);

it("A build on SQLite that is killed goes on, and loses and doubles nothing", async () => {
  await expectAllFound(`sqlite:${join(temporaryFolder(), "a.db")}`);
}, 120_000);

it.skipIf(noPostgres)(
  "A build on PostgreSQL that is killed goes on, and loses and doubles nothing",
  async () => {
    await expectAllFound(await newDatabase());
  },
  120_000,
);
