import type { StandardSchema } from "@fetchwork/kit";
import { describe, expect, it } from "vitest";
import { defineCollection, SchemaError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface User {
  name: string;
  role: string;
  logins?: number;
  tags?: string[];
}

type Result = ReturnType<StandardSchema<User>["~standard"]["validate"]>;

/** Requires a name, fills the role in, and trims names. */
function check(value: unknown): Result {
  const { name, role = "user", ...rest } = Object(value) as Partial<User>;
  if (typeof name !== "string" || name === "") {
    return { issues: [{ message: "expected a name", path: ["name"] }] };
  }
  if (rest.tags !== undefined && rest.tags.length > 2) {
    return { issues: [{ message: "too many", path: [{ key: "tags" }, 2] }] };
  }
  return { value: { name: name.trim(), role, ...rest } };
}

function schemaOf(validate: (value: unknown) => Result): StandardSchema<User> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const users = defineCollection("users", { schema: schemaOf(check), softDelete: true });
const later = defineCollection("later", {
  schema: schemaOf(async (value) => Promise.resolve(check(value))),
});
const loose = defineCollection<User>("users", { softDelete: true });
const none: User = { name: "", role: "user" };

describe.each(enginesOfFile())("A schema in %s", (_engine, open, openNew) => {
  it("decides what is stored, with its defaults and conversions", async () => {
    const collection = (await open({ collections: [users] })).collection(users);
    const stored: unknown = await Reflect.apply(collection.insert, collection, [{ name: " ann " }]);
    expect(stored).toMatchObject({ name: "ann", role: "user", version: 1 });
    const id = String(Reflect.get(Object(stored), "id"));
    expect(await collection.get(id)).toMatchObject({ name: "ann", role: "user" });
    expect(await collection.update(id, { name: " bob " })).toMatchObject({ name: "bob" });
    expect(await collection.update(id, () => ({ name: " cat " }))).toMatchObject({ name: "cat" });
    const replaced = await collection.replace(id, { name: " dan ", role: "admin" });
    expect(replaced).toMatchObject({ name: "dan", role: "admin", version: 4 });
    expect(await collection.update(id, { tags: ["a"] })).toMatchObject({ tags: ["a"] });
    expect(await collection.updateMany({ where: {}, change: { name: " eve " } })).toBe(1);
    expect(await collection.get(id)).toMatchObject({ name: "eve", version: 6 });
  });

  it("refuses every change that it rejects, and nothing is changed", async () => {
    const collection = (await open({ collections: [users] })).collection(users);
    const { id } = await collection.insert({ name: "ann", role: "user", tags: ["a", "b"] });
    const bob = { name: "bob", role: "user" };
    const changes: readonly (() => Promise<unknown>)[] = [
      () => collection.insert(none),
      () => collection.insertMany([bob, none]),
      () => collection.upsert(none, { id }),
      () => collection.upsert(bob, { id, change: () => none }),
      () => collection.update(id, { name: "" }),
      () => collection.update(id, () => ({ name: "" })),
      () => collection.replace(id, none),
      () => collection.replace(id, () => none),
      () => collection.update(id, { tags: ["a", "b", "c"] }),
      () => collection.updateMany({ where: {}, change: { name: "" } }),
      () => collection.updateMany({ where: {}, change: () => ({ name: "" }) }),
    ];
    for (const change of changes) {
      await expect(change()).rejects.toMatchObject({ code: "ERR_DOCUMENTS_SCHEMA" });
    }
    expect(await collection.find()).toEqual([await collection.get(id)]);
    expect(await collection.get(id)).toMatchObject({ name: "ann", version: 1 });
  });

  it("is reported with the path and the message of each issue, and no values", async () => {
    const collection = (await open({ collections: [users] })).collection(users);
    const refused = collection.insert({ name: "a", role: "b", tags: ["secret", "b", "c"] });
    await expect(refused).rejects.toBeInstanceOf(SchemaError);
    await expect(refused).rejects.toMatchObject({
      collection: "users",
      issues: [{ path: "tags[2]", message: "too many" }],
      message: 'a document of "users" does not satisfy the schema at "tags[2]"',
    });
  });

  it("that is asynchronous is awaited for whole documents, and refused in other changes", async () => {
    const collection = (await open({ collections: [later] })).collection(later);
    const { id } = await collection.insert({ name: " ann ", role: "user" });
    const replaced = await collection.replace(id, { name: " bob ", role: "user" });
    expect(replaced).toMatchObject({ name: "bob" });
    await expect(collection.insert(none)).rejects.toBeInstanceOf(SchemaError);
    for (const change of [
      () => collection.update(id, { name: "cat" }),
      () => collection.increment(id, { logins: 1 }),
      () => collection.updateMany({ where: {}, change: { name: "cat" } }),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "ERR_DOCUMENTS_DEFINITION" });
    }
    expect(await collection.get(id)).toMatchObject({ name: "bob", version: 2 });
  });

  it("checks nothing that is restored, and belongs to the definition", async () => {
    const store = await openNew({ collections: [users] });
    const collection = store.collection(users);
    const { id } = await collection.insert({ name: "ann", role: "user" });
    expect(() => store.collection(loose)).toThrow(/another definition/);
    await collection.remove(id);
    expect(await collection.restore(id)).toMatchObject({ name: "ann", version: 3 });
  });
});

describe("defineCollection()", () => {
  it.each([[{}], [1], ["x"], [null], [{ "~standard": {} }]])(
    "refuses %j as a schema",
    (schema: unknown) => {
      const define = (): unknown =>
        Reflect.apply(defineCollection, undefined, ["users", { schema }]);
      expect(define).toThrow(/Standard Schema/);
    },
  );

  it("returns a definition that can be sent to another thread", () => {
    expect(structuredClone({ ...users })).not.toHaveProperty("schema");
    expect(structuredClone(users)).not.toHaveProperty("schema");
    expect(users.schema).toBeDefined();
  });
});
