import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { administer, defineCollection, openStore } from "../../src/index.ts";
import { enginesOfFile, newDatabase, sharedEngines } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";
import { noPostgres } from "../postgres-server.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const places = defineCollection<Document>("places", {
  geo: ["at", "home.at"],
  indexes: ["kind"],
  search: ["name"],
  softDelete: true,
});
const plain = defineCollection<Document>("places", { indexes: ["kind"], softDelete: true });

const earthRadius = 6_371_008.8;
const halfWayRound = Math.PI * earthRadius;
/** What rounding may come to: a nanometre, except near the antipode, where the sine is flat. */
const near = (metres: number): number => (metres > 0.95 * halfWayRound ? 2 : 1e-6);

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** The haversine formula as the books have it. */
function distance(one: Place, other: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half = (degrees: number): number => Math.sin(radians(degrees) / 2) ** 2;
  const haversine =
    half(other.latitude - one.latitude) +
    Math.cos(radians(one.latitude)) *
      Math.cos(radians(other.latitude)) *
      half(other.longitude - one.longitude);
  return 2 * earthRadius * Math.asin(Math.sqrt(Math.min(1, haversine)));
}

const berlin = { latitude: 52.52, longitude: 13.405 };

it.each(sharedEngines)(
  "A program goes on to find places in %s when one without them starts",
  async (_name, create) => {
    const open = await create();
    const first = await open({ collections: [places] });
    const collection = first.collection(places);
    const kept = await collection.insert({ name: "kept", at: berlin });
    const gone = await collection.insert({ name: "gone", at: berlin });
    const second = await open({ collections: [plain] });
    await second.collection(plain).remove(gone.id);
    await second.collection(plain).purge(gone.id);
    const added = await collection.insert({ name: "added", at: berlin });
    const query = { near: { ...berlin, field: "at", maxDistance: 10 } };
    const ids = (await collection.find(query)).map(({ id }) => id);
    expect(ids).toEqual([kept.id, added.id]);
    await administer(second).dropUnused([plain]);
    await first.close();
    const third = await open({ collections: [places] });
    expect(await third.collection(places).count(query)).toBe(2);
  },
);

describe.each(engines)("A query by distance in %s", (_name, open) => {
  it.each<[string, object]>([
    ["a text for a place", { near: "Berlin" }],
    ["a list for a place", { near: [52, 13] }],
    ["no field", { near: { ...berlin } }],
    ["no latitude", { near: { field: "at", longitude: 1 } }],
    ["a latitude that is not a number", { near: { ...berlin, field: "at", latitude: Number.NaN } }],
    ["a latitude beyond the pole", { near: { ...berlin, field: "at", latitude: 90.1 } }],
    ["a latitude in words", { near: { ...berlin, field: "at", latitude: "52" } }],
    ["a longitude beyond the map", { near: { ...berlin, field: "at", longitude: -180.1 } }],
    ["a negative distance", { near: { ...berlin, field: "at", maxDistance: -1 } }],
    ["an endless distance", { near: { ...berlin, field: "at", maxDistance: Infinity } }],
    [
      "a distance that is not a number",
      { near: { ...berlin, field: "at", minDistance: Number.NaN } },
    ],
    ["a misspelt option", { near: { ...berlin, field: "at", maxdistance: 5 } }],
    ["a field that is not declared", { near: { ...berlin, field: "kind" } }],
    ["a separate order", { near: { ...berlin, field: "at" }, sort: ["kind"] }],
    ["a cursor of another place", { near: { ...berlin, field: "at" }, after: "abcdefghijklmnopq" }],
  ])("is refused with %s", async (_text, query) => {
    const collection = (await open()).collection(places);
    const ask = (method: "count" | "find" | "page"): unknown =>
      Reflect.apply(collection[method], collection, [query]);
    const refusal = { code: "ERR_DOCUMENTS_QUERY", name: "InputError" };
    await expect(ask("find")).rejects.toMatchObject(refusal);
    await expect(ask("page")).rejects.toMatchObject(refusal);
    if (!("sort" in query || "after" in query)) {
      await expect(ask("count")).rejects.toMatchObject(refusal);
    }
  });

  it("finds what is near in the order of the distance", async () => {
    const collection = (await open()).collection(places);
    await collection.insertMany([
      { name: "Paris", at: { latitude: 48.8566, longitude: 2.3522 } },
      { name: "Potsdam", at: { type: "Point", coordinates: [13.0645, 52.3906] } },
      { name: "Berlin", at: berlin },
      { name: "New York", at: { latitude: 40.7128, longitude: -74.006 } },
    ]);
    const query = { near: { field: "at", ...berlin } };
    const names = async (more: object): Promise<unknown> =>
      (await collection.find({ near: { ...query.near, ...more } })).map(({ name }) => name);
    expect(await names({})).toEqual(["Berlin", "Potsdam", "Paris", "New York"]);
    expect(await names({ maxDistance: 30_000 })).toEqual(["Berlin", "Potsdam"]);
    expect(await names({ minDistance: 1, maxDistance: 1e6 })).toEqual(["Potsdam", "Paris"]);
    expect(await names({ minDistance: 1e6 })).toEqual(["New York"]);
    expect(await names({ minDistance: 2e6, maxDistance: 1e6 })).toEqual([]);
    expect(await names({ maxDistance: 0 })).toEqual(["Berlin"]);
    expect(await collection.count({ near: { ...query.near, maxDistance: 1e6 } })).toBe(3);
    expect(await collection.count({ ...query, max: 2 })).toBe(2);
  });

  it("finds nothing of documents without a place", async () => {
    const collection = (await open()).collection(places);
    const without: unknown[] = [
      undefined,
      null,
      "52.52,13.405",
      [13.405, 52.52],
      {},
      { latitude: 52.52 },
      { latitude: "52.52", longitude: "13.405" },
      { latitude: 90.0001, longitude: 0 },
      { latitude: 0, longitude: 180.5 },
      { type: "Point" },
      { type: "Point", coordinates: [13.405] },
      { type: "Point", coordinates: "13.405,52.52" },
      { type: "Point", coordinates: [13.405, 91] },
      { type: "Point", latitude: 1, longitude: 1 },
      { type: "LineString", coordinates: [[13.4, 52.5]] },
    ];
    await collection.insertMany(without.map((at) => (at === undefined ? {} : { at })));
    expect(await collection.find({ near: { field: "at", ...berlin } })).toEqual([]);
    expect(await collection.count({ near: { field: "at", ...berlin } })).toBe(0);
    expect(await collection.count()).toBe(without.length);
  });

  it("goes over the poles and the antimeridian", async () => {
    const collection = (await open()).collection(places);
    const at = (latitude: number, longitude: number): Document => ({ at: { latitude, longitude } });
    await collection.insertMany([
      { name: "east", ...at(0, 179.9999) },
      { name: "west", ...at(0, -179.9999) },
      { name: "line", ...at(0, 180) },
      { name: "the same line", ...at(0, -180) },
      { name: "north", ...at(90, 0) },
      { name: "north too", ...at(90, 123.4) },
      { name: "beyond north", ...at(89.9999, -170) },
      { name: "south", ...at(-90, -77) },
    ]);
    const names = async (latitude: number, longitude: number, maxDistance: number) => {
      const query = { near: { field: "at", latitude, longitude, maxDistance } };
      const found = await collection.find({ ...query, limit: 10 });
      expect(await collection.count(query)).toBe(found.length);
      return found.map(({ name }) => String(name)).toSorted();
    };
    expect(await names(0, 179.9999, 23)).toEqual(["east", "line", "the same line", "west"]);
    expect(await names(0, -180, 0)).toEqual(["line", "the same line"]);
    expect(await names(0, 180, 0)).toEqual(["line", "the same line"]);
    expect(await names(89.9999, 10, 23)).toEqual(["beyond north", "north", "north too"]);
    expect(await names(90, 55, 0)).toEqual(["north", "north too"]);
    expect(await names(-89.9999, 103, 12)).toEqual(["south"]);
    expect(await names(90, 0, 2e7)).toHaveLength(7);
    expect(await names(90, 0, 2.1e7)).toHaveLength(8);
  });

  it("measures a quarter of the mean circle of the earth to a decimetre", async () => {
    const collection = (await open()).collection(places);
    await collection.insert({ at: { latitude: 90, longitude: 17 } });
    const from = { field: "at", latitude: 0, longitude: -100 } as const;
    const count = (range: object): Promise<number> =>
      collection.count({ near: { ...from, ...range } });
    expect(await count({ maxDistance: 10_007_557.2 })).toBe(0);
    expect(await count({ minDistance: 10_007_557.2, maxDistance: 10_007_557.3 })).toBe(1);
    expect(await count({ minDistance: 10_007_557.3 })).toBe(0);
  });

  it("follows changes, removals and restorations", async () => {
    const collection = (await open()).collection(places);
    const found = async (maxDistance: number): Promise<readonly string[]> => {
      const near = { field: "at", ...berlin, maxDistance };
      return (await collection.find({ near, limit: 5 })).map(({ id }) => id);
    };
    const { id } = await collection.insert({ at: { latitude: 0, longitude: 0 }, n: 1 });
    expect(await found(1000)).toEqual([]);
    await collection.update(id, { at: berlin });
    expect(await found(1000)).toEqual([id]);
    await collection.update(id, { n: 2 });
    expect(await found(1000)).toEqual([id]);
    await collection.update(id, (stored) => ({
      ...stored,
      at: { type: "Point", coordinates: [13.4, 52.5] },
    }));
    expect(await found(10)).toEqual([]);
    expect(await found(5000)).toEqual([id]);
    await collection.update(id, { at: undefined });
    expect(await found(1e9)).toEqual([]);
    await collection.replace(id, { at: berlin });
    await collection.upsert({ at: berlin, n: 3 }, { id });
    expect(await found(0)).toEqual([id]);
    await collection.remove(id);
    expect(await found(0)).toEqual([]);
    const near = { field: "at", ...berlin, maxDistance: 0 };
    expect(await collection.find({ near, deleted: "only", limit: 5 })).toMatchObject([{ id }]);
    await collection.restore(id);
    expect(await found(0)).toEqual([id]);
    await collection.removeMany({ where: {} });
    await collection.purgeMany();
    expect(await collection.count({ near, deleted: "include" })).toBe(0);
  });

  it("joins filters, words and projections, and reads its own transaction", async () => {
    const store = await open();
    const collection = store.collection(places);
    const documents = Array.from({ length: 400 }, (_, index) => ({
      kind: index % 50 === 0 ? "rare" : "usual",
      name: index % 3 === 0 ? "red house" : "blue house",
      home: { at: { latitude: index / 10, longitude: index / 5 } },
    }));
    await collection.insertMany(documents);
    const near = { field: "home.at", latitude: 0, longitude: 0 };
    const rare = await collection.find({
      near,
      where: { kind: "rare" },
      limit: 3,
      fields: ["kind"],
    });
    expect(rare.map(({ kind }) => kind)).toEqual(["rare", "rare", "rare"]);
    expect(Object.keys(rare[0] ?? {})).toEqual(["id", "kind"]);
    const red = await collection.find({
      near,
      where: { kind: "rare" },
      q: "red",
      offset: 1,
      limit: 1,
    });
    expect(red).toMatchObject([{ home: { at: { latitude: 15 } } }]);
    await store.transaction(async (tx) => {
      const inside = tx.collection(places);
      const { id } = await inside.insert({ home: { at: { latitude: 0, longitude: 0 } } });
      const found = await inside.find({ near: { ...near, maxDistance: 0 } });
      expect(found.map((one) => one.id).toSorted()).toContain(id);
      expect(found).toHaveLength(2);
    });
  });

  it("goes with words that few documents have", async () => {
    const collection = (await open()).collection(places);
    await collection.insertMany([
      { name: "harbour hotel" },
      { name: "harbour museum", at: { latitude: 53.5, longitude: 10 } },
      { name: "harbour bar", at: { latitude: 52.5, longitude: 13.4 } },
    ]);
    const near = { ...berlin, field: "at" };
    const { items, total } = await collection.page({ near, q: "harbour", total: "exact" });
    expect(items.map(({ name }) => name)).toEqual(["harbour bar", "harbour museum"]);
    expect(total).toEqual({ count: 2, exact: true });
    const close = { near: { ...near, maxDistance: 10_000 }, q: "harbour", limit: 2 };
    expect(await collection.find(close)).toMatchObject([{ name: "harbour bar" }]);
  });

  it("comes in pages that are, one after the other, all of it", async () => {
    const collection = (await open()).collection(places);
    // Many at one distance, so that the id decides.
    const documents = Array.from({ length: 120 }, (_, index) => {
      return { at: { latitude: (index % 7) - 3, longitude: (index % 5) - 2 } };
    });
    await collection.insertMany(documents);
    const near = { field: "at", latitude: 0, longitude: 0, minDistance: 100_000 };
    const all = (await collection.find({ near })).map(({ id }) => id);
    const paged: string[] = [];
    let after: string | undefined;
    do {
      const page = await collection.page({ near, limit: 7, after, total: "exact" });
      expect(page.total).toEqual({ count: all.length, exact: true });
      paged.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined && paged.length <= all.length);
    expect(paged).toEqual(all);
    const { next } = await collection.page({ near, limit: 7 });
    const other = { ...near, latitude: 1 };
    await expect(collection.page({ near: other, after: next })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it("agrees with the haversine formula, whatever the places", { timeout: 60_000 }, async () => {
    const collection = (await open({ collections: [places] })).collection(places);
    const degrees = (limit: number): fc.Arbitrary<number> =>
      fc.oneof(
        fc.constantFrom(0, limit, -limit, limit - 1e-5, 1e-5 - limit),
        fc.double({ min: -limit, max: limit, noNaN: true }),
        fc.double({ min: -0.01, max: 0.01, noNaN: true }),
        fc.integer({ min: -3, max: 3 }),
      );
    const place = fc.record({ latitude: degrees(90), longitude: degrees(180) });
    const metres = fc.oneof(
      fc.constantFrom(undefined, 0, 1000, 1e7, 3e7),
      fc.double({ min: 0, max: 2.1e7, noNaN: true }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(place, { maxLength: 40 }),
        place,
        fc.record({ minDistance: metres, maxDistance: metres }),
        fc.record({
          offset: fc.nat({ max: 5 }),
          limit: fc.option(fc.nat({ max: 10 }), { nil: undefined }),
        }),
        async (all, center, between, page) => {
          await collection.removeMany({ where: {} });
          await collection.purgeMany();
          await collection.insertMany(all.map((at) => ({ at })));
          const query = { near: { field: "at", ...center, ...between } };
          const found = await collection.find({ ...query, limit: undefined });
          const distances = found.map(({ at }) => {
            const { latitude, longitude } = Object(at);
            return distance(center, { latitude, longitude });
          });
          const { minDistance = 0, maxDistance = Infinity } = between;
          for (const [index, metre] of distances.entries()) {
            expect(metre).toBeGreaterThanOrEqual(minDistance - near(metre));
            expect(metre).toBeLessThanOrEqual(maxDistance + near(metre));
            const before = distances[index - 1] ?? 0;
            expect(metre).toBeGreaterThanOrEqual(before - near(metre));
          }
          const certain = all.filter((at) => {
            const metre = distance(center, at);
            return metre > minDistance + near(metre) && metre < maxDistance - near(metre);
          });
          expect(found.length).toBeGreaterThanOrEqual(certain.length);
          const ids = found.map(({ id }) => id);
          expect(await collection.count(query)).toBe(ids.length);
          const part = (await collection.find({ ...query, ...page })).map(({ id }) => id);
          expect(part).toEqual(ids.slice(page.offset, page.offset + (page.limit ?? Infinity)));
        },
      ),
      { numRuns: propertyRuns(60, 150) },
    );
  });
});

describe("Two engines", () => {
  it.skipIf(noPostgres !== undefined)(
    "give the same documents by distance, in the same order",
    async () => {
      await using sqlite = await openStore("sqlite::memory:");
      await using postgres = await openStore(await newDatabase());
      const random = fc.sample(
        fc.record({
          latitude: fc.double({ min: -90, max: 90, noNaN: true }),
          longitude: fc.double({ min: -180, max: 180, noNaN: true }),
        }),
        { numRuns: 500, seed: 42 },
      );
      const both = [sqlite, postgres].map((store) => store.collection(places));
      await Promise.all(
        both.map((collection) =>
          Promise.all(random.map((at, n) => collection.insert({ at }, { id: `id${n}` }))),
        ),
      );
      for (const center of random.slice(0, 50)) {
        const near = { field: "at", ...center };
        const [one, other] = await Promise.all(
          both.map(async (collection) => await collection.page({ near, limit: 100 })),
        );
        expect(one?.items.map(({ id }) => id)).toEqual(other?.items.map(({ id }) => id));
        // The cursor holds every bit of the distance.
        expect(one?.next).toBe(other?.next);
      }
    },
  );

  it.each<readonly [string, () => Promise<string>]>([
    ["SQLite", () => Promise.resolve(`sqlite:${temporaryFolder()}/a.db`)],
    ...(noPostgres === undefined ? [["PostgreSQL", () => newDatabase()] as const] : []),
  ])("find the places of what %s held before they were declared", async (_name, make) => {
    const url = await make();
    const near = { field: "at", ...berlin };
    {
      await using store = await openStore(url);
      await store.collection(plain).insertMany([{ at: berlin, n: 1 }, { n: 2 }]);
      const plan = await administer(store).plan({ collections: [places] });
      expect(plan).toContainEqual({
        kind: "build-geo",
        collection: "places",
        fields: ["at", "home.at"],
      });
    }
    {
      await using store = await openStore(url, { collections: [places] });
      expect(await store.collection(places).find({ near })).toMatchObject([{ n: 1 }]);
      expect(await administer(store).plan({ collections: [places] })).toEqual([]);
      expect(await administer(store).plan({ collections: [plain] })).toContainEqual({
        kind: "drop-geo",
        collection: "places",
        fields: [],
      });
    }
    {
      await using store = await openStore(url, { collections: [plain] });
      await store.collection(plain).insert({ at: berlin, n: 3 });
    }
    await using store = await openStore(url, { collections: [places] });
    const found = await store.collection(places).find({ near });
    expect(new Set(found.map(({ n }) => n))).toEqual(new Set([1, 3]));
    expect(found).toHaveLength(2);
  });
});
