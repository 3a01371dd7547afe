import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore, type Store } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Part {
  readonly of: {
    readonly one: { readonly name: string };
    readonly other: { readonly size: number };
  };
  readonly in: {
    readonly place: { readonly row: number; readonly shelf: { readonly no: number } };
  };
  readonly by: {
    readonly maker: { readonly name: string };
    readonly seller: { readonly no: number };
  };
}

const fieldNames = [
  "of.one.name",
  "of.other.size",
  "in.place.row",
  "in.place.shelf.no",
  "by.maker.name",
  "by.seller.no",
] as const;

const plain = defineCollection<Part>("parts");
const wide = defineCollection<Part>("parts", {
  indexes: [fieldNames, fieldNames.toReversed(), fieldNames.slice(0, 2)],
  unique: [fieldNames.slice(0, 3)],
});

const parts = Array.from({ length: 60 }, (_, index): Part => {
  const at = (divisor: number): number => Math.floor(index / divisor) % 3;
  return {
    of: { one: { name: `n${at(1)}` }, other: { size: index - 30.5 } },
    in: { place: { row: at(3), shelf: { no: at(9) } } },
    by: { maker: { name: `m${at(2)}` }, seller: { no: index % 7 } },
  };
});

const indexes =
  "SELECT c.oid::int AS oid, i.indnkeyatts::int AS keys, i.indisvalid AS valid FROM pg_index i " +
  "JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'parts:index:%' ORDER BY c.oid";

describe.skipIf(noPostgres !== undefined)("An index of many nested fields", () => {
  it.each(["from the start", "next to documents"])(
    "gets the fields that fit, when it is declared %s, and nothing is found otherwise",
    async (when) => {
      const url = await newDatabase();
      const open = async (collections: readonly [typeof plain]): Promise<Store> => {
        const store = await openStore(url, { collections, postgres: { distributed: true } });
        onTestFinished(() => store.close());
        return store;
      };
      if (when === "next to documents") {
        await (await open([plain])).collection(plain).insertMany(parts);
      }
      const store = await open([wide]);
      const collection = store.collection(wide);
      if (when === "from the start") await collection.insertMany(parts);
      const built = await runSql(url, indexes);
      // Of two of six fields, of one of two that fits whole, and of the unique fields; each with
      // the id.
      const keys = built
        .map((row) => Number(Object(row).keys))
        .toSorted((one, other) => one - other);
      expect(built).toHaveLength(4);
      expect(keys[0]).toBe(3);
      expect(keys[3]).toBeGreaterThan(3);
      expect(keys[3]).toBeLessThan(7);
      expect(built).toEqual(
        built.map((row) => expect.objectContaining({ ...Object(row), valid: true })),
      );

      const sort = [...fieldNames];
      await using memory = await openStore("sqlite::memory:");
      await memory.collection(plain).insertMany(parts);
      for (const query of [
        { sort },
        { sort: sort.toReversed() },
        { where: { "of.one.name": "n1", "of.other.size": { lt: 0 } }, sort },
        { where: { "by.seller.no": 3, "by.maker.name": "m2" }, sort: sort.toReversed() },
      ]) {
        const texts = async (of: typeof collection): Promise<readonly string[]> =>
          (await of.find(query)).map(({ of: { other } }) => String(other.size));
        expect(await texts(collection)).toEqual(await texts(memory.collection(plain)));
      }
      await expect(collection.insertMany(parts.slice(7, 8))).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_UNIQUE",
      });
      // The next process finds them as they should be.
      await open([wide]);
      expect(await runSql(url, indexes)).toEqual(built);
    },
    30_000,
  );

  it("gets as many fields as an index may have", async () => {
    const many = Array.from({ length: 40 }, (_, index) => `f${index}`);
    const things = defineCollection("things", { indexes: [many] });
    await using store = await openStore(await newDatabase(), { collections: [things] });
    await store.collection(things).insertMany([{ f0: 2 }, { f0: 1 }]);
    const found = await store.collection(things).find({ sort: ["f0"] });
    expect(found).toMatchObject([{ f0: 1 }, { f0: 2 }]);
  });

  it("is refused by its name when it is unique and does not fit", async () => {
    const many = Array.from({ length: 7 }, (_, index) => `f${index}`);
    const things = defineCollection("things", { unique: [many] });
    await expect(openStore(await newDatabase(), { collections: [things] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_DEFINITION",
      message: expect.stringContaining("f0, f1, f2"),
    });
  });
});
