import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { defineCollection, openStore, type Store } from "../src/index.ts";
import { openReadingConnection } from "../src/engines/sqlite/connection/open-reader.ts";
import { maintain } from "../src/engines/sqlite/threads/maintenance.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  readonly text: string;
  readonly tags: readonly string[];
  readonly n: number;
}

const plain = defineCollection<Note>("plain");
const kept = defineCollection<Note>("kept", {
  softDelete: true,
  changes: "documents",
  search: ["text"],
  indexes: ["tags", "n"],
});
const collections = [plain, kept];

async function writeStore(path: string): Promise<void> {
  await using store = await openStore(`sqlite:${path}`, { collections });
  for (const definition of collections) {
    const collection = store.collection(definition);
    for (let n = 0; n < 60; n += 1) {
      const id = `note-${n}`;
      await collection.insert({ text: `the text of ${n}`, tags: [`t${n % 7}`], n }, { id });
      if (n % 3 === 0) await collection.update(id, { text: `another text of ${n}` });
      if (n % 5 === 0) await collection.remove(id);
    }
  }
  await store.collection(kept).restore("note-10");
}

/** Reads all that callers can see. */
async function readAll(store: Store): Promise<string> {
  const found: unknown[] = [];
  const first = store.collection(plain);
  const second = store.collection(kept);
  found.push(await first.find(), await first.count());
  for (const deleted of ["include", "exclude"] as const) {
    found.push(await second.find({ deleted, sort: ["n"] }));
  }
  found.push(await second.count(), await second.find({ q: "another", sort: ["-createdAt"] }));
  for (let n = 0; n < 60; n += 1) found.push(await first.get(`note-${n}`));
  for (let n = 0; n < 7; n += 1) {
    found.push(await second.find({ where: { tags: { contains: `t${n}` } } }));
  }
  for await (const change of store.changes({ atEnd: "end" })) found.push(change);
  return JSON.stringify(found);
}

/** Numbers from 0 to `limit`, the same ones in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/**
 * Returns what callers see of a damaged file, or that it cannot be read, and whether the check
 * finds the damage.
 */
async function readDamaged(path: string): Promise<{ seen: string; isFound: boolean }> {
  let store: Store;
  try {
    store = await openStore(`sqlite:${path}`, { collections });
  } catch {
    return { seen: "cannot be opened", isFound: true };
  }
  let seen = "cannot be read";
  try {
    seen = await readAll(store);
  } catch {
    // The check must find why.
  }
  try {
    const connection = openReadingConnection(path);
    try {
      return { seen, isFound: maintain(connection, { kind: "check" }).length > 0 };
    } finally {
      connection.close();
    }
  } catch {
    return { seen, isFound: true };
  } finally {
    await store.close().catch(() => undefined);
  }
}

it(
  "The check of a SQLite file finds each of 1,000 overwrites that changes what is read",
  { timeout: 600_000 },
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, "whole.db");
    await writeStore(path);
    new DatabaseSync(path).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const whole = readFileSync(path);
    const random = numbers(20_260_701);
    const silent: string[] = [];
    let visible = 0;
    let expected = "";
    for (let run = 0; run <= 1000; run += 1) {
      const bytes = Buffer.from(whole);
      const length = run % 2 === 0 ? 1 : 16;
      const start = random(bytes.length - length);
      for (let index = 0; run > 0 && index < length; index += 1) bytes[start + index] = random(256);
      const copy = join(folder, `${run}.db`);
      writeFileSync(copy, bytes);
      const { seen, isFound } = await readDamaged(copy);
      if (run === 0) {
        expect(isFound).toBe(false);
        expected = seen;
      } else if (seen !== expected) {
        visible += 1;
        if (!isFound) silent.push(`${length} bytes at ${start}`);
      }
    }
    expect(silent).toEqual([]);
    // Enough of them hit what callers read; how many follows from the layout of the file.
    expect(visible).toBeGreaterThan(150);
  },
);
