import { describe, expect, it } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { enginesOfFile, findsQuotedNames } from "../open-for-test.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const hostile = [
  "' OR 1=1 --",
  "'; DROP TABLE things; --",
  '" OR ""="',
  '"; DROP TABLE things; --',
  "') OR ('1'='1",
  "a') FROM things--",
  "$[0]",
  "$",
  "*",
  "%",
  "_",
  "\\",
  "\\' OR 1=1 --",
  '\\" OR 1=1 --',
  "?",
  "?1",
  ":name",
  "@x",
  "a\nb\r\n--",
  "/* */",
  "[1]",
  "#-1",
  "rowid",
  "doc",
  "seq",
  "NULL",
  "x\u2028y",
  "𝒳",
  "\u202e",
  "select(1)",
  "char(0)",
  "like('a')",
];

const fieldNames = hostile.filter((name) => !name.startsWith("$"));

describe.each(engines)("Hostile text of %s", (engine, open) => {
  it.each(hostile)("%j is nothing but a value", async (text) => {
    const things = defineCollection<Document>("things", { unique: ["a"], search: ["a"] });
    const collection = (await open()).collection(things);
    const { id } = await collection.insert({ a: text });
    await collection.insert({ a: "other" });
    expect(await collection.count({ where: { a: text } })).toBe(1);
    expect(await collection.count({ where: { a: { prefix: text, gte: text, lte: text } } })).toBe(
      1,
    );
    expect(await collection.count({ where: { a: { in: [text, "none"] } } })).toBe(1);
    expect(await collection.find({ q: text })).toMatchObject([{ id, a: text }]);
    expect(await collection.get(text)).toBeUndefined();
    expect(await collection.remove(text)).toBe(false);
    expect(await collection.update(text, { a: "x" })).toBeUndefined();
    await expect(collection.insert({ a: text })).rejects.toMatchObject({ fields: ["a"] });
    expect(await collection.removeMany({ where: { a: text } })).toBe(1);
    expect(await collection.count()).toBe(1);
  });

  it.each(fieldNames.map((name, index) => [name, index] as const))(
    "%j is nothing but a field",
    async (name, index) => {
      if (!findsQuotedNames(engine) && name.includes('"')) return;
      const things = defineCollection<Document>(`things${index}`, {
        unique: [["a", name]],
        indexes: [name],
        search: [name],
      });
      const collection = (await open()).collection(things);
      const field = <V>(value: V): Record<string, V> => Object.fromEntries([[name, value]]);
      const { id } = await collection.insert({ ...field("value"), a: 1, nested: field(2) });
      await collection.insert({ a: 2 });
      expect(await collection.find({ where: field("value") })).toMatchObject([{ id }]);
      expect(await collection.find({ where: field({ exists: false }) })).toMatchObject([{ a: 2 }]);
      expect(await collection.count({ where: Object.fromEntries([[`nested.${name}`, 2]]) })).toBe(
        1,
      );
      expect((await collection.find({ sort: [`-${name}`] })).map(({ id: found }) => found)[0]).toBe(
        id,
      );
      expect(await collection.find({ fields: [name], where: { a: 1 } })).toEqual([
        { id, ...field("value") },
      ]);
      expect(await collection.count({ q: "value" })).toBe(1);
      await expect(collection.insert({ ...field("value"), a: 1 })).rejects.toMatchObject({
        fields: ["a", name],
      });
      expect(await collection.update(id, field(undefined))).not.toHaveProperty([name]);
      expect(await collection.count({ where: field(null) })).toBe(2);
    },
  );
});
