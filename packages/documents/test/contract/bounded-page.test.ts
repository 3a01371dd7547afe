import { describe, expect, it } from "vitest";
import {
  type Collection,
  defineCollection,
  type Page,
  type PageQuery,
  type Stored,
} from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Note {
  text: string;
  kind: string;
  state: string;
}

const notes = defineCollection<Note>("notes", {
  indexes: ["kind", "state"],
  search: ["text"],
  keepTotal: true,
});

/** So many that words which half of the documents have are not looked up in the index. */
const count = 110_000;

/** Half of the notes have one word and half have the other; the first three have both. */
function note(n: number): Note {
  const words = n < 3 ? "copper silver" : n % 2 === 0 ? "copper" : "silver";
  return {
    text: `${words} ${n}`,
    kind: n < 3 ? "both" : "one",
    state: n % 2 === 0 ? "even" : "odd",
  };
}

/** Reads all pages of a query. */
async function pagesOf(
  collection: Collection<Note>,
  query: PageQuery<Note>,
): Promise<readonly Page<Stored<Note>>[]> {
  const pages: Page<Stored<Note>>[] = [];
  for (let after: string | undefined; ;) {
    const page = await collection.page({ ...query, after, fields: undefined });
    pages.push(page);
    if (page.next === undefined) return pages;
    after = page.next;
  }
}

describe.each(enginesOfFile())("A bounded page in %s", (name, open) => {
  it("is refused unless it is said by true or false", async () => {
    const collection = (await open()).collection(notes);
    const result: unknown = Reflect.apply(collection.page, collection, [{ bounded: "yes" }]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("ends early where words are common alone and rare together, and every hit is behind its cursor", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    for (let n = 0; n < count; n += 5000) {
      await collection.insertMany(Array.from({ length: 5000 }, (_, place) => note(n + place)));
    }
    const whole = await collection.page({ q: "copper silver" });
    expect(whole.items).toHaveLength(3);
    expect(whole).not.toHaveProperty("partial");
    if (/distributed|Citus/.test(name)) {
      // No sample of a table that is spread over servers is looked at, so the index finds them.
      expect(await collection.page({ q: "copper silver", bounded: true })).toEqual(whole);
      return;
    }
    const [first, ...others] = await pagesOf(collection, {
      q: "copper silver",
      bounded: true,
      total: 100,
    });
    expect(first).toMatchObject({ items: [], partial: true, total: { count: 0, exact: false } });
    expect(others.length).toBeGreaterThan(3);
    expect(others.flatMap(({ items }) => items)).toEqual(whole.items);
    expect(others.at(-1)).not.toHaveProperty("partial");
    const common = await collection.page({ q: "copper", bounded: true, total: 100 });
    expect(common).toMatchObject({ total: { count: 100, exact: false } });
    expect(common).not.toHaveProperty("partial");
    // A cursor tells no more than a time.
    const [, text = ""] = /^.{16}(.*)$/.exec(first?.next ?? "") ?? [];
    const [time, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string];
    expect([time, id]).toEqual([expect.stringMatching(/^2\d{3}-/), "\u{10FFFF}".repeat(4)]);
    if (!name.startsWith("SQLite")) return;
    const where = { and: [{ state: "even" }, { state: "odd" }] };
    const pages = await pagesOf(collection, { where, bounded: true });
    expect(pages[0]).toMatchObject({ items: [], partial: true });
    expect(pages.flatMap(({ items }) => items)).toEqual([]);
    const ascending = {
      where: { not: { kind: "one" } },
      sort: ["createdAt"],
      bounded: true,
    } as const;
    const forwards = await pagesOf(collection, ascending);
    expect(forwards.flatMap(({ items }) => items)).toEqual(whole.items.toReversed());
    expect(forwards.length).toBeGreaterThan(3);
  }, 120_000);
});
