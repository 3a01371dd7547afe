import { describe, expect, it } from "vitest";
import { defineCollection, type Stored } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Note {
  n: number;
  color: string;
  text: string;
  at: { latitude: number; longitude: number };
}

/** More documents than a search reads and sorts before it looks at the texts in their order. */
const count = 1300;

const options = { indexes: ["n", "color"], search: ["text"], geo: ["at"] } as const;
const notes = defineCollection<Note>("notes", options);
const kept = defineCollection<Note>("kept", { ...options, softDelete: true });

/** Most notes are about the harbour, but none of the first hundred. */
const filled = Array.from({ length: count }, (_, n): Note => {
  const isCommon = n >= 100 && n % 12 !== 0;
  const words = [isCommon ? "The Harbour, ou" : "a ship", n % 400 === 7 ? "unicorn" : "x", `n${n}`];
  return {
    n: (n * 7) % count,
    color: ["red", "green", "blue"][n % 3] ?? "",
    text: words.join(" "),
    at: { latitude: 50 + n / 1000, longitude: 10 },
  };
});

/** Selects as a search does, in the plainest way. */
function select(
  stored: readonly Stored<Note>[],
  { q, sort, where = {} }: { q: string; sort: string; where?: Partial<Note> },
): readonly Stored<Note>[] {
  const field = sort.replace("-", "");
  const direction = sort.startsWith("-") ? -1 : 1;
  const has = (each: Stored<Note>): boolean =>
    q.split(" ").every((word) => each.text.toLowerCase().includes(word)) &&
    Object.entries(where).every(([name, value]) => Reflect.get(each, name) === value);
  return stored.filter(has).toSorted((left, right) => {
    const [one, other] = [Reflect.get(left, field), Reflect.get(right, field)];
    return direction * (one === other ? (left.id < right.id ? -1 : 1) : one < other ? -1 : 1);
  });
}

describe.each(enginesOfFile())("A search of %s among many documents", (_engine, open) => {
  it("finds the same by the index of words as by their texts, in every order", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const stored = await collection.insertMany(filled);
    for (const q of ["harbour", "ou", "harbour ou", "harbour n12", "unicorn", "nothing"]) {
      for (const sort of ["-createdAt", "createdAt", "n", "-n", "id", "text"] as const) {
        for (const where of [undefined, { color: "red" }, { color: "none" }]) {
          const expected = select(stored, { q, sort, where: where ?? {} });
          const query = { q, sort: [sort], ...(where === undefined ? {} : { where }) };
          for (const offset of [0, 3, 1050]) {
            const found = await collection.find({ ...query, limit: 7, offset });
            expect(found).toEqual(expected.slice(offset, offset + 7));
          }
          const first = await collection.page({ ...query, limit: 5, total: 20 });
          expect(first.items).toEqual(expected.slice(0, 5));
          const total = Math.min(expected.length, 20);
          expect(first.total).toEqual({ count: total, exact: expected.length <= 20 });
          if (first.next === undefined) continue;
          const rest = await collection.find({ ...query, limit: 1200, after: first.next });
          expect(rest).toEqual(expected.slice(5, 1205));
        }
      }
    }
  });

  it("counts the same up to any number", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const stored = await collection.insertMany(filled);
    for (const q of ["harbour", "ou", "unicorn", "nothing"]) {
      for (const where of [undefined, { color: "red" }]) {
        const { length } = select(stored, { q, sort: "id", where: where ?? {} });
        const query = where === undefined ? { q } : { q, where };
        expect(await collection.count(query)).toBe(length);
        for (const max of [1, 300, 1000, 1001, 1002, 5000]) {
          expect(await collection.count({ ...query, max })).toBe(Math.min(length, max));
        }
      }
    }
  });

  it("leaves out removed documents, or all others", async () => {
    const collection = (await open({ collections: [kept] })).collection(kept);
    const stored = await collection.insertMany(filled);
    await collection.removeMany({ where: { color: "red" } });
    const live = stored.filter(({ color }) => color !== "red").map(({ id }) => id);
    for (const q of ["harbour", "ou"]) {
      const all = select(stored, { q, sort: "-createdAt" }).map(({ id }) => id);
      const visible = all.filter((id) => live.includes(id));
      const removed = all.filter((id) => !live.includes(id));
      const ids = async (deleted: "exclude" | "include" | "only") =>
        (await collection.find({ q, deleted, limit: 9, fields: [] })).map(({ id }) => id);
      expect(await ids("exclude")).toEqual(visible.slice(0, 9));
      expect(await ids("only")).toEqual(removed.slice(0, 9));
      expect(await ids("include")).toEqual(all.slice(0, 9));
      expect(await collection.count({ q, max: 2000 })).toBe(visible.length);
      expect(await collection.count({ q, max: 20, deleted: "only" })).toBe(20);
      expect(await collection.count({ q, max: 2000, deleted: "include" })).toBe(all.length);
    }
  });

  it("sorts by the distance from a place, and claims what has the words", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const stored = await collection.insertMany(filled);
    const near = { field: "at", latitude: 50, longitude: 10 } as const;
    for (const q of ["harbour", "unicorn"]) {
      const expected = select(stored, { q, sort: "createdAt" });
      const found = await collection.find({ q, near, limit: 11 });
      expect(found.map(({ text }) => text)).toEqual(expected.slice(0, 11).map(({ text }) => text));
      expect(await collection.count({ q, near, max: 12 })).toBe(Math.min(expected.length, 12));
      const [claimed] = await collection.claim({ q, sort: ["createdAt"], limit: 1 });
      expect(claimed?.document.id).toBe(expected[0]?.id);
    }
  });
});
