import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { administer, type Collection, defineCollection } from "../../src/index.ts";
import { aggregate, distinct, path, price, values } from "../aggregate-model.ts";
import { document, filter, matches } from "../filter-model.ts";
import { enginesOfFile, findsQuotedNames } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

interface Order {
  customer: string;
  price?: number;
  state: "open" | "paid";
  tags?: readonly string[];
  address?: { city: string };
  note?: string;
}

const things = defineCollection<Document>("things", { indexes: ["a", "b.c"] });
const orders = defineCollection<Order>("orders", { indexes: ["customer"], search: ["note"] });
const kept = defineCollection<Document>("kept", { softDelete: true });

const some: readonly Order[] = [
  { customer: "ann", price: 0.1, state: "paid", tags: ["a", "b"], note: "Blue shirt" },
  { customer: "ann", price: 0.2, state: "paid", tags: ["b", "b"], address: { city: "Rome" } },
  { customer: "bob", price: 5, state: "open", tags: [], note: "blue hat" },
  { customer: "bob", price: 7, state: "paid" },
  { customer: "cat", state: "paid", tags: ["b"] },
];

const refused: readonly (readonly [text: string, query: unknown])[] = [
  ["no values", {}],
  ["empty values", { values: {} }],
  ["values in a list", { values: ["count"] }],
  [
    "33 values",
    { values: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`n${n}`, "count"])) },
  ],
  ["an unknown value", { values: { n: "sum" } }],
  ["an unknown function", { values: { n: { median: "price" } } }],
  ["a function of the prototype", { values: { n: { constructor: "price" } } }],
  ["two functions in one value", { values: { n: { sum: "price", avg: "price" } } }],
  ["no function", { values: { n: {} } }],
  ["a field that is not text", { values: { n: { sum: 1 } } }],
  ["a field that is not a path", { values: { n: { sum: "a..b" } } }],
  ["a dollar", { by: "$where", values: { n: "count" } }],
  ["an empty name", { values: { "": "count" } }],
  ["a name with a minus", { values: { "-n": "count" } }],
  ["a long name", { values: { ["n".repeat(129)]: "count" } }],
  ["a name that is a field", { by: "state", values: { state: "count" } }],
  ["a field twice", { by: ["state", "state"], values: { n: "count" } }],
  ["nine fields", { by: "abcdefghi".split(""), values: { n: "count" } }],
  ["a sort by something else", { values: { n: "count" }, sort: ["m"] }],
  ["a sort that is not a list", { values: { n: "count" }, sort: "n" }],
  ["a limit of zero", { values: { n: "count" }, limit: 0 }],
  ["a limit of 10,001", { values: { n: "count" }, limit: 10_001 }],
  ["near", { values: { n: "count" }, near: { field: "a", latitude: 0, longitude: 0 } }],
  ["an unknown option", { values: { n: "count" }, having: {} }],
  ["an undefined condition", { values: { n: "count" }, where: { a: undefined } }],
];

const quoted = {
  by: ["x'y", "a\\b"],
  values: { n: "count", s: { sum: "'); DROP TABLE things; --" } },
};

describe.each(engines)("Groups in %s", (engine, open) => {
  const filled = async (): Promise<Collection<Order>> => {
    const collection = (await open({ collections: [orders] })).collection(orders);
    await collection.insertMany(some);
    return collection;
  };

  it("have the values that were asked for, in the order that was asked for", async () => {
    const collection = await filled();
    const query = {
      where: { state: "paid" },
      by: "customer",
      values: {
        orders: "count",
        revenue: { sum: "price" },
        average: { avg: "price" },
        cheapest: { min: "price" },
        dearest: { max: "price" },
        last: { max: "note" },
      },
      sort: ["-revenue"],
    } as const;
    expect(await collection.aggregate(query)).toEqual([
      { customer: "bob", orders: 1, revenue: 7, average: 7, cheapest: 7, dearest: 7, last: null },
      {
        customer: "ann",
        orders: 2,
        revenue: 0.3,
        average: 0.15,
        cheapest: 0.1,
        dearest: 0.2,
        last: "Blue shirt",
      },
      {
        customer: "cat",
        orders: 1,
        revenue: 0,
        average: null,
        cheapest: null,
        dearest: null,
        last: null,
      },
    ]);
    expect(await collection.aggregate({ ...query, limit: 1 })).toHaveLength(1);
  });

  it("are one of all documents without a field, also of none", async () => {
    const collection = await filled();
    const all = { n: "count", sum: { sum: "price" }, avg: { avg: "price" } } as const;
    expect(await collection.aggregate({ values: all })).toEqual([{ n: 5, sum: 12.3, avg: 3.075 }]);
    const none = await collection.aggregate({ where: { customer: "dan" }, values: all });
    expect(none).toEqual([{ n: 0, sum: 0, avg: null }]);
    expect(
      await collection.aggregate({ where: { customer: "dan" }, by: "state", values: all }),
    ).toEqual([]);
  });

  it("are made by several fields, nested ones too, and by those of the store", async () => {
    const collection = await filled();
    const n = { n: "count" } as const;
    expect(await collection.aggregate({ by: ["address.city", "state"], values: n })).toEqual([
      { "address.city": null, state: "open", n: 1 },
      { "address.city": null, state: "paid", n: 3 },
      { "address.city": "Rome", state: "paid", n: 1 },
    ]);
    const versions = { n: "count", sum: { sum: "version" }, first: { min: "createdAt" } } as const;
    const [group] = await collection.aggregate({ by: "version", values: versions });
    expect(group).toMatchObject({ version: 1, n: 5, sum: 5, first: expect.stringContaining("T") });
  });

  it("are of the documents that a search finds", async () => {
    const collection = await filled();
    const found = await collection.aggregate({
      q: "blue",
      values: { n: "count", sum: { sum: "price" } },
    });
    expect(found).toEqual([{ n: 2, sum: 5.1 }]);
    expect(await collection.distinct("tags", { q: "blue" })).toEqual(["a", "b"]);
    expect(await collection.distinct("customer", { q: "blue" })).toEqual(["ann", "bob"]);
  });

  it("leave removed documents out unless they are asked for", async () => {
    const collection = (await open({ collections: [kept] })).collection(kept);
    const [first] = await collection.insertMany([{ a: 1 }, { a: 2 }]);
    await collection.remove(first?.id ?? "");
    const sum = { values: { sum: { sum: "a" } } } as const;
    expect(await collection.aggregate(sum)).toEqual([{ sum: 2 }]);
    expect(await collection.aggregate({ ...sum, deleted: "include" })).toEqual([{ sum: 3 }]);
    expect(await collection.distinct("a", { deleted: "only" })).toEqual([1]);
  });

  it("have the exact sum of many numbers, whatever their order", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const numbers = Array.from({ length: 3000 }, (_, n) =>
      n % 2 === 0 ? 999_999_999.123456 : 0.1,
    );
    await collection.insertMany([...numbers, 1e308, -1e308, 1e-7].map((a) => ({ a })));
    const [group] = await collection.aggregate({ values: { sum: { sum: "a" } } });
    expect(group?.sum).toBe(1_499_999_998_685.184 + 150);
    await collection.insertMany([{ a: 1e308 }, { a: 1e308 }]);
    expect(await collection.aggregate({ values: { sum: { sum: "a" } } })).toEqual([
      { sum: Infinity },
    ]);
  });

  it("are read inside a transaction with its changes", async () => {
    const store = await open({ collections: [orders] });
    await store.collection(orders).insertMany(some);
    await store.transaction(async (tx) => {
      const inside = tx.collection(orders);
      await inside.removeMany({ where: { customer: "ann" } });
      expect(await inside.aggregate({ values: { sum: { sum: "price" } } })).toEqual([{ sum: 12 }]);
      expect(await inside.distinct("customer")).toEqual(["bob", "cat"]);
    });
  });

  it.each(refused)("with %s are refused", async (_text, query) => {
    const collection = (await open()).collection(things);
    const result: unknown = Reflect.apply(collection.aggregate, collection, [query]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("take names of fields for nothing but names", async () => {
    const collection = (await open()).collection(things);
    await collection.insert({ "x'y": 1, "a\\b": "'", "'); DROP TABLE things; --": 2 });
    const result: unknown = await Reflect.apply(collection.aggregate, collection, [quoted]);
    expect(result).toEqual([{ "x'y": 1, "a\\b": "'", n: 1, s: 2 }]);
  });

  it("are explained like a count", async () => {
    const store = await open({ collections: [orders] });
    const query = { where: { state: "paid" }, by: "customer", values: { n: "count" } } as const;
    const { scans, warnings } = administer(store).explain(orders, query, {
      method: "aggregate",
    });
    expect(scans).toBe(true);
    expect(warnings.join()).toContain('declare indexes: ["state"]');
  });

  it("are those of a naive model, for any documents and filters", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(document, fc.option(price, { nil: undefined })), { maxLength: 12 }),
        filter,
        fc.record({ by: fc.uniqueArray(path, { maxLength: 2 }), wanted: values, field: path }),
        async (pairs, where, { by, wanted, field }) => {
          fc.pre(findsQuotedNames(engine) || !JSON.stringify(where).includes('x\\"y'));
          await collection.removeMany({ where: {} });
          const documents = pairs.map(([own, own2]) => ({ ...own, price: own2 }));
          await collection.insertMany(documents);
          const stored = await collection.find();
          const selected = stored.filter((each) => matches(each, where));
          const query: unknown = { where, by, values: wanted };
          const ask = (method: unknown, ...given: unknown[]): Promise<unknown> =>
            Promise.resolve(Reflect.apply(Object(method), collection, given));
          const groups = await ask(collection.aggregate, query);
          expect(groups).toEqual(aggregate(selected, by, wanted));
          expect(await ask(collection.distinct, field, { where })).toEqual(
            distinct(selected, field),
          );
        },
      ),
      { numRuns: propertyRuns(60, 400) },
    );
  });
});

describe.each(engines)("Values in %s", (_engine, open) => {
  it("are those of the members of lists, each once for a document", async () => {
    const collection = (await open({ collections: [orders] })).collection(orders);
    await collection.insertMany(some);
    expect(await collection.distinct("tags")).toEqual(["a", "b"]);
    expect(await collection.distinct("customer", { limit: 1 })).toEqual(["ann"]);
    expect(await collection.distinct("address")).toEqual([]);
    expect(await collection.distinct("version")).toEqual([1]);
  });

  it("keep their types and their order", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const mixed = [
      true,
      1,
      "1",
      0,
      false,
      null,
      "true",
      [1, [2], { c: 3 }, "z", null],
      { c: 1 },
      0.5,
    ];
    await collection.insertMany([...mixed.map((a) => ({ a })), {}]);
    expect(await collection.distinct("a")).toEqual([0, false, 0.5, 1, true, "1", "true", "z"]);
  });

  it("of a field that is none are refused", async () => {
    const collection = (await open()).collection(things);
    for (const given of [[undefined], ["a..b"], ["a", { limit: 0 }], ["a", { by: "b" }]]) {
      const result: unknown = Reflect.apply(collection.distinct, collection, given);
      await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    }
  });
});
