import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, foldedWords } from "../../src/document/fold.ts";
import { defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const things = defineCollection<Document>("things", {
  indexes: ["a", ["a", "b"]],
  search: ["t", "u.v"],
});

/** The order of sort keys: missing and null, numbers and booleans, strings by code point. */
function compare(left: unknown, right: unknown): number {
  const rank = (value: unknown): number =>
    value === undefined || value === null ? 0 : typeof value === "string" ? 2 : 1;
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (rank(left) === 1) return Number(left) - Number(right);
  return rank(left) === 0
    ? 0
    : Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}

describe.each(engines)("A sort order of %s", (_engine, open) => {
  it("is the one of a plain sort in memory, and pages cut it without overlap", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const value = fc.constantFrom(
      undefined,
      null,
      true,
      false,
      0,
      1,
      -5,
      2.5,
      "",
      "a",
      "B",
      "é",
      "\uffff",
      "😀",
      "10",
      "9",
    );
    const key = fc.constantFrom("a", "-a", "b", "-b", "createdAt", "-id", "c.d");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ a: value, b: value }), { maxLength: 15 }),
        fc.uniqueArray(key, { maxLength: 3 }),
        async (documents, sort) => {
          await collection.removeMany({ where: {} });
          const stored = await collection.insertMany(documents);
          const last = sort.at(-1) ?? "-createdAt";
          const keys = [
            ...(sort.length === 0 ? ["-createdAt"] : sort),
            last.startsWith("-") ? "-id" : "id",
          ];
          const expected = stored.toSorted((left, right) => {
            for (const entry of keys) {
              const name = entry.replace("-", "");
              const order = compare(Reflect.get(left, name), Reflect.get(right, name));
              if (order !== 0) return entry.startsWith("-") ? -order : order;
            }
            return 0;
          });
          const ids = expected.map(({ id }) => id);
          const all = await collection.find(Object.fromEntries([["sort", sort]]));
          expect(all.map(({ id }) => id)).toEqual(ids);
          const page = await collection.find(
            Object.fromEntries([
              ["sort", sort],
              ["limit", 4],
              ["offset", 3],
            ]),
          );
          expect(page.map(({ id }) => id)).toEqual(ids.slice(3, 7));
        },
      ),
      { numRuns: propertyRuns(50, 100) },
    );
  });
});

/**
 * Whether a folded text has a folded word: one of up to two characters only where a word may begin.
 */
function hasWord(text: string, word: string): boolean {
  if (Array.from(word).length > 2) return text.includes(word);
  const continues = /[\p{L}\p{N}]/u;
  const unspaced =
    /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Bopo}]/u;
  const isLetter = (character: string): boolean =>
    continues.test(character) && !unspaced.test(character);
  const characters = Array.from(text);
  return characters.some((character, index) => {
    const isBeginning = !isLetter(character) || !isLetter(characters[index - 1] ?? " ");
    return isBeginning && characters.slice(index).join("").startsWith(word);
  });
}

/** Returns words that are not part of each other. */
function words(count: number, prefix: string): string {
  return Array.from({ length: count }, (_, index) => prefix + index.toString(36)).join(" ");
}

describe.each(engines)("The limit of sort keys of %s", (_engine, open) => {
  it("is 16", async () => {
    const collection = (await open()).collection(things);
    const { id } = await collection.insert({ a: 1 });
    const keys = Array.from({ length: 17 }, (_, index) => `k${index}`);
    expect(await collection.find({ sort: keys.slice(1) })).toMatchObject([{ id }]);
    await expect(collection.find({ sort: keys })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
      message: '"sort" has more than 16 fields',
    });
  });
});

describe.each(engines)("A keyword search of %s", (_engine, open) => {
  it("finds exactly the documents in whose folded text every folded word occurs", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const word = fc.oneof(
      fc.constantFrom(
        "ab",
        "abc",
        "AbC",
        "ä",
        "a\u0308b",
        "ß",
        "ss",
        "Σας",
        "東京タワー",
        "한국",
        "ﬁn",
        'x"y',
        "a*",
        "AND",
        "OR",
        "NOT",
        "NEAR(a b)",
        "-a",
        "^a",
        "t:abc",
        "'",
        "%",
        "_",
        "\\",
        "😀",
        "(",
        ")",
        "{",
        "İ",
        "ǅ",
        "①",
        "a-b",
        "b,a",
        "京a",
        "a京",
        "a 京",
        "ภาษา",
        "東",
        "\u3000",
      ),
      fc.string({ unit: "grapheme", maxLength: 5 }),
    );
    const line = fc
      .array(word, { maxLength: 4 })
      .map((words) => words.join(" "))
      .filter((text) => !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, line), { maxLength: 8 }),
        fc.array(word, { minLength: 1, maxLength: 3 }),
        async (lines, words) => {
          await collection.removeMany({ where: {} });
          const stored = await collection.insertMany(lines.map(([t, v]) => ({ t, u: { v } })));
          const q = words.join(" ");
          const folded = foldedWords(q);
          fc.pre(folded.filter((part) => Array.from(part).length < 3).length <= 3);
          const expected = stored.filter((_document, index) => {
            const texts = (lines[index] ?? []).map(fold);
            return folded.every((part) => texts.some((text) => hasWord(text, part)));
          });
          expect(await collection.find({ q, sort: ["id"] })).toEqual(expected);
          expect(await collection.count({ q })).toBe(expected.length);
        },
      ),
      { numRuns: propertyRuns(100, 200) },
    );
  });

  it.each([
    ["\0", 1],
    ["\ud800", 0],
    ['"', 0],
    ["a".repeat(200), 0],
    ['" OR "', 0],
    ["abc* OR def", 0],
    ["abc\0def", 1],
    ["*", 0],
    ["?", 0],
    ["a?", 0],
    ["[", 0],
    ["[a", 0],
    ["a]", 0],
    ["^a", 0],
  ])("takes %j for nothing but words", async (q, count) => {
    const collection = (await open()).collection(things);
    await collection.insert({ t: "abcdef" });
    expect(await collection.count({ q })).toBe(count);
  });

  it.each(["*", "?", "[", "]", "[a", ",a*", "[]", "?]", "-", "^", "\\", "%", "_", "😀", "😀é"])(
    "finds %j by itself, and only by itself",
    async (q) => {
      const collection = (await open()).collection(things);
      await collection.insert({ t: `before${q}after` });
      await collection.insert({ t: "before and after" });
      expect(await collection.count({ q })).toBe(1);
    },
  );

  it.each([
    ["o", ["one two", "(O)", "x/óp"], ["two", "to-no"]],
    [
      "ou",
      ["Our", "in our", "foo-ouch", "(out", "“OÜ”", "x\u00a0ou", "7.ou"],
      ["about", "o u", "o-u"],
    ],
    ["7", ["7", "no. 7", "a-71"], ["17", "a7"]],
    ["c#", ["C#", "in c#.", "(c#)"], ["abc#", "c #", "c"]],
    ["#", ["c#", "#1", "x # y"], ["c"]],
    ["(h", ["(hello)", "f(h)"], ["( hello", "h("]],
    ["-b", ["foo-bar", "-b"], ["foo - bar", "b-"]],
    ["o-", ["o-bar"], ["foo-bar"]],
    ["'t", ["don't"], ["do not"]],
    ["é", ["élan", "la e-mail", "E"], ["cliché"]],
    ["😀", ["😀", "so😀", "😀😀x"], ["😁"]],
    ["😀a", ["so😀a"], ["😀 a", "a😀"]],
    ["東", ["東京", "大東亜", "x東"], ["京"]],
    ["京タ", ["東京タワー", "京タ"], ["京 タ", "タ京"]],
    ["ー", ["タワー"], ["タワ"]],
    ["タi", ["東京タinfo"], ["タ info"]],
    ["ip", ["私はiPhoneを使う"], ["チップchip"]],
    ["i私", ["i私"], ["hi私"]],
    ["ภา", ["ไทยภาษา"], ["ภ"]],
    ["하", ["한국", "(하)"], ["국하"]],
  ])("finds %j only where a word begins", async (q, finds, others) => {
    const collection = (await open()).collection(things);
    const found = await collection.insertMany(finds.map((t) => ({ t: "other", u: { v: t } })));
    await collection.insertMany(others.map((t) => ({ t, u: { v: "another" } })));
    expect(await collection.find({ q, sort: ["createdAt"] })).toEqual(found);
    expect(await collection.count({ q })).toBe(finds.length);
    expect(await collection.count({ q: `other ${q}` })).toBe(finds.length);
  });

  it.each([
    ["foo-bar", ["foo-bar", "xfoo-barx"], ["foo - bar", "foo -bar", "foo- bar", "foobar"]],
    ["東京abc", ["東京abcd"], ["東京 abc"]],
    ["a😀b", ["a😀b"], ["a 😀b", "a😀 b"]],
    ["b ba", ["ba", "bar-b"], ["abba"]],
    ["about ab", ["about", "xabout ab"], ["xabout"]],
    ["(ab b", ["(ab) b"], ["(ab)"]],
  ])("tells for %j which characters stand next to each other", async (q, finds, others) => {
    const collection = (await open()).collection(things);
    const found = await collection.insertMany(finds.map((t) => ({ t })));
    await collection.insertMany(others.map((t) => ({ t })));
    expect(await collection.find({ q, sort: ["createdAt"] })).toEqual(found);
  });

  it.each([
    ["17 words", words(17, "word"), false],
    ["16 words", words(16, "word"), true],
    ["16 words, some of them twice", `${words(16, "word")} ${words(3, "word")}`, true],
    ["4 words of two characters", words(4, "ä"), false],
    ["3 words of two characters", words(3, "ä"), true],
    ["4 words of one character", "a b c d", false],
    ["4 words of two characters beyond the BMP", "😀a 😀b 😀c 😀d", false],
    ["4 words of three characters", "abc bcd cde def", true],
    ["7 short words next to a longer one", `long ${words(7, "ä")}`, false],
    ["6 short words next to a longer one", `long ${words(6, "ä")}`, true],
    ["short words that are part of another one", "abcdefgh a b c d e f g h ab bc cd de", true],
    ["4 short words of which one is in another", "ab b cd ef", true],
  ])("bounds the words that it looks for: %s", async (_text, q, accepted) => {
    const collection = (await open()).collection(things);
    await collection.insert({ t: q });
    await collection.insert({ t: "other" });
    if (accepted) {
      expect(await collection.find({ q })).toMatchObject([{ t: q }]);
      expect(await collection.count({ q })).toBe(1);
    } else {
      await expect(collection.find({ q })).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
      await expect(collection.count({ q })).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    }
  });

  it("takes a query that grows when it is folded", async () => {
    const collection = (await open()).collection(things);
    expect(await collection.count({ q: "ﷺ".repeat(200) })).toBe(0);
  });

  it("finds no word across two fields, and not the line between them", async () => {
    const collection = (await open()).collection(things);
    await collection.insert({ t: "first", u: { v: "second" } });
    expect(await collection.count({ q: "firstsecond" })).toBe(0);
    expect(await collection.count({ q: "ts" })).toBe(0);
    expect(await collection.count({ q: "first\nsecond" })).toBe(1);
  });

  it("looks in lists and numbers, and in nothing that is not declared", async () => {
    const collection = (await open()).collection(things);
    await collection.insert({ t: ["red apple", 1984], u: { v: { w: "hidden" } }, other: "secret" });
    expect(await collection.count({ q: "1984 apple red" })).toBe(1);
    expect(await collection.count({ q: "hidden" })).toBe(0);
    expect(await collection.count({ q: "secret" })).toBe(0);
  });
});
