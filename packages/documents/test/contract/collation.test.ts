import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { administer, type Collection, defineCollection, type FindQuery } from "../../src/index.ts";
import { collationKey } from "../../src/document/collation.ts";
import { enginesOfFile, sharedEngines } from "../open-for-test.ts";

interface Person {
  name?: unknown;
  address?: { city?: unknown };
}

const people = defineCollection<Person>("people", { collate: ["name"] });
const kept = defineCollection<Person>("kept", { collate: ["name"], softDelete: true });

/** Values in the order of the collation, with no two alike. */
const sorted: readonly unknown[] = [
  undefined,
  -1.5,
  0.1,
  2,
  1e300,
  "",
  " a",
  "10",
  "9",
  "a",
  "Á",
  "A b",
  "ab",
  "B",
  "résumé".replaceAll("é", "e"),
  "Résumé",
  "strasse",
  "Z",
  "zebra".repeat(100),
  "ø",
  "σ",
  "我",
  "😀",
];

/** Reads all pages of a query. */
async function pagesOf(
  collection: Collection<Person>,
  query: FindQuery<Person>,
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let after: string | undefined, isLast = false; !isLast;) {
    const page = await collection.page({ ...query, limit: 4, after, fields: undefined });
    found.push(...page.items.map(({ name }) => name));
    after = page.next;
    isLast = after === undefined;
  }
  return found;
}

function compare(one: unknown, other: unknown): number {
  const rank = (value: unknown): number =>
    value === undefined || value === null ? 0 : typeof value === "string" ? 2 : 1;
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (typeof one !== "string" || typeof other !== "string") return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(collationKey(one)), Buffer.from(collationKey(other)));
}

describe.each(enginesOfFile())("A collation in %s", (_name, open) => {
  it("sorts texts as people expect, page by page, after numbers", async () => {
    const collection = (await open({ collections: [people] })).collection(people);
    const mixed = sorted.toSorted(() => Math.random() - 0.5);
    await collection.insertMany(mixed.map((name) => (name === undefined ? {} : { name })));
    expect(await pagesOf(collection, { sort: ["name"] })).toEqual(sorted);
    expect(await pagesOf(collection, { sort: ["-name"] })).toEqual(sorted.toReversed());
  });

  it("compares regardless of case, and nothing else", async () => {
    const collection = (await open({ collections: [people] })).collection(people);
    const names = ["Ann", "ANN", "ánn", "anna", 1, true, ["ann"], { ann: 1 }, "STRASSE", "ß", "Σ"];
    await collection.insertMany(names.map((name) => ({ name })));
    const find = async (text: string): Promise<readonly unknown[]> => {
      const query = { where: { name: { eqIgnoreCase: text } }, sort: ["createdAt"], limit: 9 };
      const found: unknown = await Reflect.apply(collection.find, collection, [query]);
      return Array.isArray(found) ? found.map(({ name }) => name) : [];
    };
    expect(await find("aNN")).toEqual(["Ann", "ANN"]);
    expect(await find("ÁNN")).toEqual(["ánn"]);
    expect(await find("SS")).toEqual(["ß"]);
    expect(await find("ς")).toEqual(["Σ"]);
    expect(await find("straße")).toEqual(["STRASSE"]);
    expect(await find("1")).toEqual([]);
    expect(await find('["ann"]')).toEqual([]);
    const where = { not: { name: { eqIgnoreCase: "ann" } } };
    expect(await collection.count({ where })).toBe(names.length - 2);
  });

  it("follows every change of a document", async () => {
    const collection = (await open({ collections: [kept] })).collection(kept);
    const count = (text: string): Promise<number> =>
      collection.count({ where: { name: { eqIgnoreCase: text } } });
    await collection.insert({ name: "A" }, { id: "x" });
    await collection.update("x", { name: "B" });
    expect([await count("a"), await count("b")]).toEqual([0, 1]);
    await collection.update("x", { address: { city: "C" } });
    expect(await count("b")).toBe(1);
    await collection.update("x", () => ({ name: undefined }));
    expect(await count("b")).toBe(0);
    await collection.replace("x", { name: "D" });
    await collection.upsert({ name: "E" }, { id: "y" });
    expect([await count("d"), await count("e")]).toEqual([1, 1]);
    await collection.remove("x");
    expect(await count("d")).toBe(0);
    await collection.restore("x");
    expect(await count("d")).toBe(1);
  });

  it("is needed to compare regardless of case", async () => {
    const collection = (await open({ collections: [people] })).collection(people);
    for (const where of [
      { "address.city": { eqIgnoreCase: "a" } },
      { id: { eqIgnoreCase: "a" } },
      { name: { eqIgnoreCase: 1 } },
      { name: { eqIgnoreCase: "\ud800" } },
    ]) {
      const result: unknown = Reflect.apply(collection.find, collection, [{ where }]);
      await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    }
  });

  it("has an index that serves it", async () => {
    const store = await open({ collections: [people] });
    const collate = [{ kind: "collate", fields: ["name"] }];
    const care = administer(store);
    const order = await care.explain(people, { sort: ["name"], limit: 3 });
    expect(order).toMatchObject({ indexes: collate, sorts: false, warnings: [] });
    const equal = await care.explain(people, { where: { name: { eqIgnoreCase: "a" } } });
    expect(equal).toMatchObject({ indexes: collate, scans: false });
  });

  it("sorts any values as a plain comparison in memory does", async () => {
    const collection = (await open({ collections: [people] })).collection(people);
    const value = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 4 }),
      fc.constantFrom("a", "A", "á", "Á", "ae", "ß", "İ", "ı", "i\u0307", "e\u0301", "\uffff"),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 12 }), async (values) => {
        const names = values.filter((one) => typeof one !== "string" || isStorable(one));
        await collection.removeMany({ where: {} });
        await collection.insertMany(names.map((name) => ({ name })));
        const found = await pagesOf(collection, { sort: ["name", "createdAt"] });
        expect(found.map(plain)).toEqual(names.toSorted(compare).map(plain));
      }),
      { numRuns: 30 },
    );
  });
});

/** What the store keeps as it is. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Of equal keys the order is that of the ids. */
function plain(value: unknown): unknown {
  return typeof value === "string" ? collationKey(value) : value === 0 ? 0 : value;
}

it.each(sharedEngines)(
  "A collation is derived of existing documents in %s",
  async (_name, create) => {
    const open = await create();
    const before = defineCollection<Person>("people");
    const first = await open({ collections: [before] });
    await first.collection(before).insertMany([{ name: "b" }, { name: "A" }, { name: "ä" }]);
    await first.close();
    const names = async (): Promise<readonly unknown[]> => {
      const store = await open({ collections: [people] });
      await administer(store).built();
      const found = await store.collection(people).find({ sort: ["name"] });
      expect(await administer(store).plan({ collections: [people] })).toEqual([]);
      await store.close();
      return found.map(({ name }) => name);
    };
    expect(await names()).toEqual(["A", "ä", "b"]);
    const second = await open({ collections: [before] });
    await second.collection(before).insert({ name: "aa" });
    const [one] = await second.collection(before).find({ where: { name: "b" } });
    await second.collection(before).update(one?.id ?? "", { name: "0" });
    await second.close();
    expect(await names()).toEqual(["0", "A", "ä", "aa"]);
    const last = await open({ collections: [before] });
    await administer(last).dropUnused([before]);
    expect(await administer(last).plan({ collections: [before] })).toEqual([]);
    await last.collection(before).insert({ name: "c" });
    await last.close();
    expect(await names()).toEqual(["0", "A", "ä", "aa", "c"]);
  },
);
