import { describe, expect, it } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface User {
  email: string;
  role: "admin" | "user";
  name?: string;
  age?: number;
  address?: { city: string; zip?: string };
}

const users = defineCollection<User>("users", {
  unique: ["email"],
  indexes: [["role", "name"], "age"],
  search: ["name", "address.city"],
});

const ann: User = { email: "ann@example.com", role: "admin", name: "Ann", age: 40 };
const bob: User = { email: "bob@example.com", role: "user", name: "Bob", age: 30 };
const cyd: User = { email: "cyd@example.com", role: "user", age: 20, address: { city: "Bern" } };

describe.each(engines)("A collection of %s", (_engine, open) => {
  it("refuses a document whose unique field is taken, and names the field", async () => {
    const collection = (await open()).collection(users);
    await collection.insert(ann);
    await expect(collection.insert({ ...bob, email: ann.email })).rejects.toMatchObject({
      name: "UniqueError",
      code: "ERR_DOCUMENTS_UNIQUE",
      collection: "users",
      fields: ["email"],
    });
    expect(await collection.count()).toBe(1);
  });

  it("refuses an id that is taken", async () => {
    const collection = (await open()).collection(users);
    await collection.insert(ann, { id: "one" });
    await expect(collection.insert(bob, { id: "one" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_UNIQUE",
      fields: ["id"],
    });
  });

  it("names every field of a unique index over several", async () => {
    const seats = defineCollection<{ row: number; seat: number }>("seats", {
      unique: [["row", "seat"]],
    });
    const collection = (await open()).collection(seats);
    await collection.insertMany([
      { row: 1, seat: 1 },
      { row: 1, seat: 2 },
    ]);
    await expect(collection.insert({ row: 1, seat: 2 })).rejects.toMatchObject({
      fields: ["row", "seat"],
    });
  });

  it.each([null, undefined])("lets several documents have %s in a unique field", async (value) => {
    const things = defineCollection<{ code?: string | null | undefined }>("things", {
      unique: ["code"],
    });
    const collection = (await open()).collection(things);
    await collection.insertMany([{ code: value }, { code: value }]);
    expect(await collection.count()).toBe(2);
  });

  it.each(["", "a b", "a/b", "ä", "a\0", "x".repeat(129), "'; --", '"'])(
    "refuses the id %j",
    async (id) => {
      const collection = (await open()).collection(users);
      await expect(collection.insert(ann, { id })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_ID",
      });
    },
  );

  it("refuses every change of another version, and says the current one", async () => {
    const collection = (await open()).collection(users);
    const { id } = await collection.insert(ann);
    await collection.update(id, { age: 41 });
    const error = { code: "ERR_DOCUMENTS_VERSION", current: 2, expected: 1, collection: "users" };
    const ifVersion = 1;
    await expect(collection.update(id, { age: 1 }, { ifVersion })).rejects.toMatchObject(error);
    await expect(collection.replace(id, bob, { ifVersion })).rejects.toMatchObject(error);
    await expect(collection.remove(id, { ifVersion })).rejects.toMatchObject(error);
    expect(await collection.get(id)).toMatchObject({ age: 41, version: 2 });
  });

  it("adds all documents of a list or none", async () => {
    const collection = (await open()).collection(users);
    const bad = collection.insertMany([bob, cyd, { ...ann, email: bob.email }]);
    const good = collection.insert(ann);
    await expect(bad).rejects.toMatchObject({ fields: ["email"] });
    await good;
    expect(await collection.count()).toBe(1);
    expect(await collection.count({ where: {} })).toBe(1);
    expect(await collection.count({ q: "Bern" })).toBe(0);
    const added = await collection.insertMany([bob, cyd]);
    expect(added.map(({ email }) => email)).toEqual([bob.email, cyd.email]);
  });

  it("adds an id, version 1 and its times to a new document", async () => {
    const collection = (await open()).collection(users);
    const before = Date.now();
    const stored = await collection.insert(ann);
    expect(stored).toEqual({
      ...ann,
      id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      version: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: stored.createdAt,
    });
    expect(Date.parse(stored.createdAt)).toBeGreaterThanOrEqual(before);
    expect(await collection.get(stored.id)).toEqual(stored);
    expect(Object.keys(stored).slice(0, 4)).toEqual(["id", "version", "createdAt", "updatedAt"]);
  });

  it("keeps what a document was when it was given", async () => {
    const collection = (await open()).collection(users);
    const document = { ...cyd, address: { city: "Bern" } };
    const insert = collection.insert(document);
    document.address.city = "Basel";
    const stored = await insert;
    expect(stored.address).toEqual({ city: "Bern" });
    const change = { address: { city: "Chur" } };
    const update = collection.update(stored.id, change);
    change.address.city = "Genf";
    expect((await update)?.address).toEqual({ city: "Chur" });
  });

  it("reads documents in the order of the ids", async () => {
    const collection = (await open()).collection(users);
    const [one, two] = await collection.insertMany([ann, bob]);
    const ids = [two?.id ?? "", "none", one?.id ?? "", two?.id ?? "", "\ud800\0'"];
    expect(await collection.getMany(ids)).toEqual([two, undefined, one, two, undefined]);
    expect(await collection.getMany([])).toEqual([]);
    expect(await collection.get("none")).toBeUndefined();
  });

  it("merges a change at the top level and removes what is undefined", async () => {
    const collection = (await open()).collection(users);
    const stored = await collection.insert({ ...cyd, address: { city: "Bern", zip: "3000" } });
    const changed = await collection.update(stored.id, {
      age: undefined,
      address: { city: "Basel" },
    });
    expect(changed).toEqual({
      id: stored.id,
      version: 2,
      createdAt: stored.createdAt,
      updatedAt: changed?.updatedAt,
      email: cyd.email,
      role: "user",
      address: { city: "Basel" },
    });
    expect(await collection.get(stored.id)).toEqual(changed);
  });

  it("changes a document by a function, one change after the other", async () => {
    const collection = (await open()).collection(users);
    const { id } = await collection.insert({ ...ann, age: 0 });
    const add = () => collection.update(id, (user) => ({ ...user, age: (user.age ?? 0) + 1 }));
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await collection.get(id)).toMatchObject({ age: 20, version: 21 });
  });

  it("changes nothing when the function throws, is asynchronous or touches the store's fields", async () => {
    const collection = (await open()).collection(users);
    const { id } = await collection.insert(ann);
    const fault = new Error("no");
    const throwing = collection.update(id, () => {
      throw fault;
    });
    await expect(throwing).rejects.toBe(fault);
    const asynchronous: unknown = () => Promise.resolve(bob);
    await expect(
      Reflect.apply(collection.update, collection, [id, asynchronous]),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VALUE" });
    await expect(collection.update(id, (user) => ({ ...user, version: 9 }))).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_NAME",
      path: "version",
    });
    expect(await collection.get(id)).toMatchObject({ ...ann, version: 1 });
  });

  it.each(["id", "version", "createdAt", "updatedAt"])(
    "lets no function change the store's own field %j",
    async (name) => {
      const collection = (await open()).collection(users);
      const stored = await collection.insert(ann);
      const value = name === "version" ? 9 : "2000-01-01T00:00:00.000Z";
      const error = { code: "ERR_DOCUMENTS_NAME", path: name };
      const copied = collection.update(stored.id, (user) => ({ ...user, [name]: value }));
      await expect(copied).rejects.toMatchObject(error);
      const inPlace = collection.update(stored.id, (user) =>
        Object.assign(user, { [name]: value }),
      );
      await expect(inPlace).rejects.toMatchObject(error);
      expect(await collection.get(stored.id)).toEqual(stored);
      const without = await collection.update(stored.id, (user) => {
        Reflect.deleteProperty(user, name);
        return user;
      });
      const { id, createdAt } = stored;
      expect(without).toMatchObject({ ...ann, id, createdAt, version: 2 });
      expect(without?.updatedAt).toBeTypeOf("string");
    },
  );

  it("replaces the whole document", async () => {
    const collection = (await open()).collection(users);
    const { id, createdAt } = await collection.insert(ann);
    const replaced = await collection.replace(id, cyd, { ifVersion: 1 });
    expect(replaced).toEqual({ ...cyd, id, version: 2, createdAt, updatedAt: replaced?.updatedAt });
    expect(await collection.get(id)).toEqual(replaced);
  });

  it("says when there is nothing to change or remove", async () => {
    const collection = (await open()).collection(users);
    expect(await collection.update("none", { age: 1 }, { ifVersion: 3 })).toBeUndefined();
    expect(await collection.replace("none", ann)).toBeUndefined();
    expect(await collection.remove("none", { ifVersion: 3 })).toBe(false);
  });

  it("removes one document, or those that a filter matches", async () => {
    const collection = (await open()).collection(users);
    const [first] = await collection.insertMany([ann, bob, cyd]);
    expect(await collection.remove(first?.id ?? "", { ifVersion: 1 })).toBe(true);
    expect(await collection.removeMany({ where: { age: { lt: 25 } } })).toBe(1);
    expect(await collection.find({ fields: ["email"] })).toMatchObject([{ email: bob.email }]);
    expect(await collection.count()).toBe(1);
    expect(await collection.removeMany({ where: {} })).toBe(1);
    expect(await collection.count()).toBe(0);
    await collection.insert(bob);
  });

  it("counts everything, what a filter matches and what a search finds", async () => {
    const collection = (await open()).collection(users);
    expect(await collection.count()).toBe(0);
    await collection.insertMany([ann, bob, cyd]);
    expect(await collection.count()).toBe(3);
    expect(await collection.count({ where: { role: "user" } })).toBe(2);
    expect(await collection.count({ q: "an" })).toBe(1);
    expect(await collection.count({ q: "an", where: { role: "user" } })).toBe(0);
  });

  it("lists the newest first, and pages through all of them", async () => {
    const collection = (await open()).collection(users);
    const added = await collection.insertMany(
      Array.from({ length: 25 }, (_, index): User => ({
        email: `${index}@example.com`,
        role: "user",
      })),
    );
    const newest = added.map(({ id }) => id).toReversed();
    const pages = [];
    for (let offset = 0; offset < 30; offset += 10) {
      pages.push(...(await collection.find({ limit: 10, offset })));
    }
    expect(pages.map(({ id }) => id)).toEqual(newest);
    expect(await collection.find({ limit: 0 })).toEqual([]);
    expect((await collection.find({ offset: 24 })).map(({ id }) => id)).toEqual(newest.slice(24));
  });

  it("sorts by several fields, with the id as tie-break in the last direction", async () => {
    const collection = (await open()).collection(users);
    const added = await collection.insertMany([ann, bob, cyd, { email: "dan", role: "user" }]);
    const [a, b, c, d] = added.map(({ id }) => id);
    const ids = async (sort: Parameters<typeof collection.find>[0]) =>
      (await collection.find(sort)).map(({ id }) => id);
    expect(await ids({ sort: ["role", "-name"] })).toEqual([a, b, d, c]);
    expect(await ids({ sort: ["-role", "name"] })).toEqual([c, d, b, a]);
    expect(await ids({ sort: ["id"] })).toEqual([a, b, c, d]);
    expect(await ids({ sort: ["-address.city", "age"] })).toEqual([c, d, b, a]);
  });

  it("returns only the fields asked for, with the id", async () => {
    const collection = (await open()).collection(users);
    const { id } = await collection.insert({ ...cyd, address: { city: "Bern", zip: "3000" } });
    expect(await collection.find({ fields: ["address.city", "name", "version"] })).toEqual([
      { id, address: { city: "Bern" }, version: 1 },
    ]);
    expect(await collection.find({ fields: [] })).toEqual([{ id }]);
  });

  it("finds words and parts of words whatever the case and the accents", async () => {
    const collection = (await open()).collection(users);
    await collection.insertMany([
      { ...ann, name: "Zoë Großmann" },
      { ...bob, name: "ΟΔΥΣΣΕΥΣ 東京タワー" },
      { ...cyd, name: 'C++ "quoted" 100%' },
    ]);
    const found = async (q: string) =>
      (await collection.find({ q })).map(({ role, age }) => [role, age]);
    expect(await found("GROSS zoe")).toEqual([["admin", 40]]);
    expect(await found("oss")).toEqual([["admin", 40]]);
    expect(await found("ss")).toEqual([]);
    expect(await found("οδυσσευς")).toEqual([["user", 30]]);
    expect(await found("京タ 東")).toEqual([["user", 30]]);
    expect(await found("c++")).toEqual([["user", 20]]);
    expect(await found('"quo 00%')).toEqual([["user", 20]]);
    expect(await found("zoe bern")).toEqual([]);
    expect(await found(" \t ")).toHaveLength(3);
  });

  it("keeps the search in step with changes", async () => {
    const collection = (await open()).collection(users);
    const { id } = await collection.insert({ ...ann, name: "First" });
    await collection.update(id, { name: "Second" });
    expect(await collection.count({ q: "first" })).toBe(0);
    expect(await collection.count({ q: "second" })).toBe(1);
    await collection.update(id, { name: "Minute" });
    expect(await collection.count({ q: "second" })).toBe(0);
    expect(await collection.count({ q: "minute" })).toBe(1);
    await collection.update(id, (user) => Object.assign(user, { name: "Changed in place" }));
    expect(await collection.count({ q: "minute" })).toBe(0);
    expect(await collection.count({ q: "place" })).toBe(1);
    await collection.remove(id);
    await collection.insert({ ...bob, name: "Third" });
    expect(await collection.count({ q: "second" })).toBe(0);
    await collection.removeMany({ where: { role: "user" } });
    await collection.insert({ ...bob, name: "Fourth" });
    expect(await collection.count({ q: "third" })).toBe(0);
  });

  it("refuses a search where no fields are declared for it", async () => {
    const plain = defineCollection<User>("plain");
    const collection = (await open()).collection(plain);
    await expect(collection.find({ q: "a" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it.each([
    [{ limit: -1 }],
    [{ limit: 1.5 }],
    [{ offset: Number.NaN }],
    [{ sort: "name" }],
    [{ sort: ["a..b"] }],
    [{ sort: [""] }],
    [{ sort: ["-"] }],
    [{ fields: ["$where"] }],
    [{ fields: [1] }],
    [{ q: 1 }],
    [{ q: "x".repeat(201) }],
    [{ where: [] }],
    [{ where: "1=1" }],
  ])("refuses the query %j", async (query) => {
    const collection = (await open()).collection(users);
    const find: unknown = Reflect.apply(collection.find, collection, [query]);
    await expect(find).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY", name: "InputError" });
  });

  it("keeps collections apart", async () => {
    const store = await open();
    const others = defineCollection<User>("others", { unique: ["email"], search: ["name"] });
    const document = await store.collection(users).insert(ann);
    await store.collection(others).insert(ann, { id: document.id });
    await store.collection(others).removeMany({ where: {} });
    expect(await store.collection(users).get(document.id)).toEqual(document);
    expect(await store.collection(users).count({ q: "ann" })).toBe(1);
  });
});
