import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { confusable } from "../filter-model.ts";
import { enginesOfFile } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const things = defineCollection<Document>("things", {
  indexes: ["a", ["a", "b"]],
  search: ["t"],
});
const others = defineCollection<Document>("others");

describe.each(engines)("A page in %s", (_name, open) => {
  it.each([
    ["a limit of 0", { limit: 0 }],
    ["a limit of 10,001", { limit: 10_001 }],
    ["a total of 0", { total: 0 }],
    ["a total in words", { total: "about" }],
    ["a cursor that is a number", { after: 5 }],
    ["an empty cursor", { after: "" }],
    ["a cursor that is none", { after: "eyJhIjoxfQ" }],
    ["a cursor of another alphabet", { after: `${"a".repeat(16)}/+==` }],
    ["a cursor that is too long", { after: "a".repeat(40_000) }],
    ["an offset next to a cursor", { after: "abc", offset: 1 }],
  ])("is refused with %s", async (_text, query) => {
    const collection = (await open()).collection(things);
    const result: unknown = Reflect.apply(collection.page, collection, [query]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("is refused with a cursor of another order or collection, or one that was changed", async () => {
    const store = await open();
    const collection = store.collection(things);
    await collection.insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    const { next = "" } = await collection.page({ sort: ["a"], limit: 1 });
    const refusal = { code: "ERR_DOCUMENTS_QUERY", path: "after" };
    await expect(collection.page({ sort: ["-a"], after: next })).rejects.toMatchObject(refusal);
    await expect(collection.page({ after: next })).rejects.toMatchObject(refusal);
    const other = store.collection(others);
    await expect(other.page({ sort: ["a"], after: next })).rejects.toMatchObject(refusal);
    const at = next.length - 3;
    const changed = next.slice(0, at) + (next[at] === "A" ? "B" : "A") + next.slice(at + 1);
    await expect(collection.page({ sort: ["a"], after: changed })).rejects.toMatchObject(refusal);
  });

  it.each([
    ["a text", "b", true],
    ["U+0000", "\0", false],
    ["a lone surrogate", "\ud800", false],
    ["a list", [], false],
    ["a number that is none", Infinity, false],
  ])("takes a forged cursor with %s or refuses it", async (_text, value, isTaken) => {
    const collection = (await open()).collection(things);
    await collection.insertMany([{ a: "a" }, { a: "c" }]);
    const values = JSON.stringify([value, ""]).replace("null", "1e999");
    const digest = hash("sha256", JSON.stringify([1, "things", ["a", "id"], values]), "base64url");
    const after = digest.slice(0, 16) + Buffer.from(values).toString("base64url");
    const page = collection.page({ sort: ["a"], after });
    if (isTaken) expect((await page).items).toMatchObject([{ a: "c" }]);
    else await expect(page).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY", path: "after" });
  });

  it("begins behind the one before, whatever was added and removed in the meantime", async () => {
    const collection = (await open()).collection(things);
    const stored = await collection.insertMany([10, 20, 30, 40, 50].map((a) => ({ a })));
    const first = await collection.page({ sort: ["a"], limit: 2 });
    expect(first.items.map(({ a }) => a)).toEqual([10, 20]);
    await collection.insertMany([{ a: 5 }, { a: 15 }, { a: 25 }]);
    await collection.remove(stored[1]?.id ?? "");
    const second = await collection.page({ sort: ["a"], limit: 2, after: first.next });
    expect(second.items.map(({ a }) => a)).toEqual([25, 30]);
    const third = await collection.page({ sort: ["a"], limit: 2, after: second.next });
    expect(third.items.map(({ a }) => a)).toEqual([40, 50]);
    expect(third.next).toBeUndefined();
  });

  it("may be found with another filter, and with find", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([1, 2, 3, 4, 5, 6].map((a) => ({ a })));
    const { next } = await collection.page({ sort: ["a"], limit: 2 });
    const found = await collection.find({ where: { a: { gte: 4 } }, sort: ["a"], after: next });
    expect(found.map(({ a }) => a)).toEqual([4, 5, 6]);
  });

  it("counts all, up to a number, or nothing", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([1, 2, 3, 4, 5].map((a) => ({ a })));
    const total = async (query: object): Promise<unknown> => (await collection.page(query)).total;
    expect(await total({})).toBeUndefined();
    expect(await total({ total: "none" })).toBeUndefined();
    expect(await total({ total: "exact", limit: 2 })).toEqual({ count: 5, exact: true });
    expect(await total({ total: 4, where: { a: { gt: 0 } } })).toEqual({ count: 4, exact: false });
    expect(await total({ total: 5, where: { a: { gt: 0 } } })).toEqual({ count: 5, exact: true });
    expect(await total({ total: 3 })).toEqual({ count: 3, exact: false });
    expect(await collection.count({ max: 2 })).toBe(2);
    expect(await collection.count({ max: 2, where: { a: { gt: 4 } } })).toBe(1);
    await expect(collection.count({ max: 0 })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it("returns only the fields asked for, and needs none of them for the cursor", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([1, 2, 3].map((a) => ({ a, b: -a })));
    const first = await collection.page({ sort: ["a"], fields: ["b"], limit: 2 });
    expect(first.items.map((item) => Object.keys(item))).toEqual([
      ["id", "b"],
      ["id", "b"],
    ]);
    const second = await collection.page({ sort: ["a"], fields: ["b"], after: first.next });
    expect(second.items).toMatchObject([{ b: -3 }]);
  });

  it("takes its place in a search", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([1, 2, 3, 4].map((a) => ({ a, t: a === 3 ? "no" : "yes" })));
    const first = await collection.page({ q: "yes", sort: ["-a"], limit: 1 });
    const second = await collection.page({ q: "yes", sort: ["-a"], after: first.next });
    expect([...first.items, ...second.items].map(({ a }) => a)).toEqual([4, 2, 1]);
  });

  it("refuses to write a cursor of values that are too long", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([{ a: "x".repeat(40_000) }, { a: "y" }]);
    await expect(collection.page({ sort: ["a"], limit: 1 })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it("is, with all that follow, what find returns at once", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const value = fc.constantFrom(undefined, ...confusable);
    const key = fc.constantFrom("a", "-a", "b", "-b", "createdAt", "-id", "-version", "b.c");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ a: value, b: value }), { maxLength: 20 }),
        fc.uniqueArray(key, { maxLength: 3 }),
        fc.integer({ min: 1, max: 5 }),
        async (documents, sort, limit) => {
          await collection.removeMany({ where: {} });
          await collection.insertMany(documents);
          const query = (more: object): object => ({ sort, ...more });
          const all = await collection.find(query({}));
          const paged: string[] = [];
          let after: string | undefined;
          do {
            const page = await collection.page(query({ after, limit }));
            paged.push(...page.items.map(({ id }) => id));
            after = page.next;
          } while (after !== undefined && paged.length <= all.length);
          expect(paged).toEqual(all.map(({ id }) => id));
        },
      ),
      { numRuns: propertyRuns(50, 150) },
    );
  });
});
