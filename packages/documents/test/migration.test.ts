import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineCollection, type Migration, openStore, type Store } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { postgresVersions } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface User {
  email: string;
  name?: string;
}

const before = defineCollection<User>("users");
const users = defineCollection<User>("users", { unique: ["email"] });

const lowerCase: Migration = {
  id: 1,
  name: "lower-case the addresses",
  up: async (tx) => {
    const collection = tx.collection(before);
    const seen = new Set<string>();
    for (const { id, email } of await collection.find({ sort: ["id"] })) {
      if (seen.has(email.toLowerCase())) await collection.remove(id);
      else await collection.update(id, { email: email.toLowerCase() });
      seen.add(email.toLowerCase());
    }
  },
};
const nothing = (id: number, name = `step ${id}`): Migration => ({ id, name, up: () => undefined });

const databases: readonly (readonly [engine: string, newUrl: () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)],
  ...postgresVersions.map(([name, bin]) => [name, () => newDatabase(bin)] as const),
];

async function openAndClose(url: string, migrations: readonly Migration[]): Promise<void> {
  const store: Store = await openStore(url, { migrations });
  await store.close();
}

describe.each(databases)("A migration of %s", (_engine, newUrl) => {
  it.each([
    ["no list", {}],
    ["an id of 0", [nothing(0)]],
    ["an id that is not a number", [{ ...nothing(1), id: "1" }]],
    ["an empty name", [nothing(1, "")]],
    ["a name of 201 characters", [nothing(1, "x".repeat(201))]],
    ["no function", [{ id: 1, name: "a" }]],
    ["an id that occurs twice", [nothing(1, "a"), nothing(1, "b")]],
  ])("is refused with %s", async (_text, migrations) => {
    const result: unknown = Reflect.apply(openStore, undefined, [
      "sqlite::memory:",
      { migrations },
    ]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
  });

  it("changes the documents before the collections get their indexes, and once", async () => {
    const url = await newUrl();
    const first = await openStore(url);
    await first.collection(before).insertMany([{ email: "A@x" }, { email: "a@x" }, { email: "b" }]);
    await first.close();
    const options = { collections: [users], migrations: [lowerCase] };
    const second = await openStore(url, options);
    const found = await second.collection(users).find({ sort: ["email"] });
    expect(found.map(({ email }) => email)).toEqual(["a@x", "b"]);
    await second.collection(users).insert({ email: "C" });
    await second.close();
    await using third = await openStore(url, options);
    expect(await third.collection(users).count({ where: { email: "C" } })).toBe(1);
  });

  it("leaves nothing when it fails, keeps the ones before it, and names itself", async () => {
    const url = await newUrl();
    const failing: Migration = {
      id: 2,
      name: "second",
      up: async (tx) => {
        await tx.collection(before).insert({ email: "two" });
        throw new Error("no");
      },
    };
    const one: Migration = {
      id: 1,
      name: "first",
      up: async (tx) => {
        await tx.collection(before).insert({ email: "one" });
      },
    };
    const failed = openStore(url, { migrations: [failing, one] });
    await expect(failed).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_MIGRATION",
      message: "the migration 2 (second) failed: no",
      cause: new Error("no"),
    });
    await expect(openStore(url, { migrations: [] })).rejects.toThrow("migration 1 (first) ran");
    await using store = await openStore(url, { migrations: [one] });
    const found = await store.collection(before).find();
    expect(found.map(({ email }) => email)).toEqual(["one"]);
  });

  it.each([
    ["a migration that ran is missing", [nothing(5)]],
    ["it has another name", [nothing(3), nothing(5, "other")]],
    ["one comes before another that ran", [nothing(3), nothing(4), nothing(5)]],
  ])("refuses the store when %s", async (_text, migrations) => {
    const url = await newUrl();
    await openAndClose(url, [nothing(3), nothing(5)]);
    await expect(openStore(url, { migrations })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_MIGRATION",
    });
    await openAndClose(url, [nothing(5), nothing(3), nothing(6)]);
  });
});
