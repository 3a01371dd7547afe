import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCollection, openStore, UniqueError, VersionError } from "@fetchwork/documents";
import { expect } from "../platform.ts";

interface User {
  readonly email: string;
  readonly name: string;
  readonly age: number;
}

const users = defineCollection<User>("users", {
  unique: ["email"],
  indexes: ["age"],
  search: ["name"],
});

/** Keeps documents in memory and in a file, and finds them in the file again. */
export async function smoke(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  try {
    await use("sqlite::memory:");
    const url = `sqlite:${join(folder, "a.db")}`;
    await use(url);
    const store = await openStore(url, { collections: [users] });
    const again = await store.collection(users).find({ where: { age: { gte: 36 } } });
    expect(
      "after the restart",
      again.map(({ email, version }) => [email, version]),
      [["ada@example.com", 2]],
    );
    await store.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function use(url: string): Promise<void> {
  const store = await openStore(url, { collections: [users] });
  const collection = store.collection(users);
  const ada = await collection.insert({ email: "ada@example.com", name: "Ada Größe", age: 35 });
  await collection.insertMany([
    { email: "bob@example.com", name: "Bob", age: 20 },
    { email: "eve@example.com", name: "Eve", age: 30 },
  ]);
  const taken: unknown = await collection
    .insert({ email: "ada@example.com", name: "Another", age: 1 })
    .catch((error: unknown) => error);
  expect("a taken address", taken instanceof UniqueError, true);
  await collection.update(ada.id, { age: 36 }, { ifVersion: 1 });
  const late: unknown = await collection
    .update(ada.id, { age: 37 }, { ifVersion: 1 })
    .catch((error: unknown) => error);
  expect("a lost update", late instanceof VersionError, true);
  const found = await collection.find({ q: "grosse" });
  expect(
    "a search",
    found.map(({ name }) => name),
    ["Ada Größe"],
  );
  const byAge = await collection.find({ sort: ["-age"], limit: 2 });
  expect(
    "the oldest",
    byAge.map(({ age }) => age),
    [36, 30],
  );
  const failed: unknown = await store
    .transaction(async (tx) => {
      await tx.collection(users).remove(ada.id);
      throw new Error("no");
    })
    .catch((error: unknown) => String(error));
  expect("a transaction that failed", [failed, await collection.count()], ["Error: no", 3]);
  await store.close();
}
