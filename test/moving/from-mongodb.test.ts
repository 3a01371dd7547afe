import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CollectionDefinition,
  defineCollection,
  openStore,
  type Store,
} from "@fetchwork/documents";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { importBlock } from "./page-block.ts";

type Import = (store: Store, users: CollectionDefinition<object>, file: string) => Promise<number>;
let importDocuments: Import;

beforeAll(async () => {
  const page = await importBlock<{ importDocuments: Import }>("from-mongodb.md", "ts", {
    "await using store": "const store",
  });
  ({ importDocuments } = page);
});

const users = defineCollection<{ email: string }>("users", { unique: ["email"] });

async function imported(
  lines: readonly object[],
): Promise<{ readonly store: Store; readonly count: number }> {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-mongodb-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "users.ndjson");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const store = await openStore("sqlite::memory:", { collections: [users] });
  onTestFinished(() => store.close());
  return { store, count: await importDocuments(store, users, file) };
}

it("the script of the page keeps identifiers, times and values of Extended JSON", async () => {
  const { store, count } = await imported([
    {
      _id: { $oid: "65f0c0000000000000000001" },
      email: "ann@example.com",
      age: { $numberInt: "36" },
      seen: { $date: { $numberLong: "1700000000000" } },
      tags: ["a", { $oid: "65f0c0000000000000000002" }],
      address: { city: "Ulm", since: { $date: "2020-01-01T00:00:00Z" } },
    },
    {
      _id: "ben",
      __v: 2,
      email: "ben@example.com",
      createdAt: { $date: "2021-01-01T00:00:00Z" },
      updatedAt: { $date: "2022-01-01T00:00:00Z" },
    },
  ]);
  expect(count).toBe(2);
  expect(await store.collection(users).get("65f0c0000000000000000001")).toEqual({
    id: "65f0c0000000000000000001",
    version: 1,
    createdAt: "2024-03-12T20:50:08.000Z",
    updatedAt: "2024-03-12T20:50:08.000Z",
    email: "ann@example.com",
    age: 36,
    seen: "2023-11-14T22:13:20.000Z",
    tags: ["a", "65f0c0000000000000000002"],
    address: { city: "Ulm", since: "2020-01-01T00:00:00.000Z" },
  });
  expect(await store.collection(users).get("ben")).toMatchObject({
    version: 3,
    createdAt: "2021-01-01T00:00:00.000Z",
    updatedAt: "2022-01-01T00:00:00.000Z",
  });
});

it("imports several batches", async () => {
  const lines = Array.from({ length: 2500 }, (_, index) => ({
    _id: `u${index}`,
    email: `${index}@a`,
  }));
  const { store, count } = await imported(lines);
  expect([count, await store.collection(users).count()]).toEqual([2500, 2500]);
});

it("the script of the page refuses a batch with a value that is taken, and names the field", async () => {
  const lines = [
    { _id: "a", email: "x@a" },
    { _id: "b", email: "x@a" },
  ];
  await expect(imported(lines)).rejects.toMatchObject({
    code: "ERR_DOCUMENTS_UNIQUE",
    fields: ["email"],
  });
});
