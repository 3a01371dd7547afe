import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { propertyRuns } from "../../../documents/test/property-runs.ts";
import { whereReader } from "../../src/plan/where-parameter.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { FilterField } from "../../src/resource/filter-field.ts";
import { filterField } from "../../src/resource/filter-field.ts";
import { jsonSchemaOf, propertiesOf } from "../../src/schema.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({
  title: z.string(),
  stars: z.int().optional(),
  done: z.boolean().optional(),
  state: z.enum(["new", "old"]).optional(),
  level: z.literal([1, 2]).optional(),
  day: z.iso.date().optional(),
  tags: z.array(z.string()).default([]),
});
const names = ["title", "stars", "done", "state", "level", "day", "tags"];
const properties = propertiesOf(jsonSchemaOf(schema, "output"), "test");
const fields: readonly FilterField[] = names.map((name) => filterField(name, properties));
const read = whereReader(fields);

/** As many levels of `not` around a condition. */
function nested(levels: number): unknown {
  return levels === 0 ? { stars: 1 } : { not: nested(levels - 1) };
}

describe("where", () => {
  it.each([
    ["", "type"],
    ["{", "type"],
    ["1", "type"],
    ["null", "type"],
    ["[]", "type"],
    ["{}", "invalid"],
    ['{"stars":{}}', "invalid"],
    ['{"or":[]}', "type"],
    ['{"or":{"stars":1}}', "type"],
    ['{"or":[{"stars":1},2]}', "type"],
    ['{"not":[{"stars":1}]}', "type"],
    ['{"secret":1}', "enum"],
    ['{"__proto__":{"stars":1}}', "enum"],
    ['{"constructor":1}', "enum"],
    ['{"stars":{"$gt":1}}', "enum"],
    ['{"stars":{"contains":1}}', "enum"],
    ['{"done":{"gt":true}}', "enum"],
    ['{"stars":"1"}', "type"],
    ['{"stars":1.5}', "type"],
    ['{"stars":1e99}', "type"],
    ['{"stars":[1]}', "type"],
    ['{"stars":{"gt":null}}', "type"],
    ['{"stars":{"in":1}}', "type"],
    ['{"stars":{"in":[1,"2"]}}', "type"],
    ['{"stars":{"exists":1}}', "type"],
    ['{"done":"true"}', "type"],
    ['{"title":1}', "maxlength"],
    ['{"title":"a\\u0000"}', "invalid"],
    ['{"title":{"in":["\\ud800"]}}', "invalid"],
    [JSON.stringify({ title: "a".repeat(501) }), "maxlength"],
    ['{"state":"lost"}', "enum"],
    ['{"level":"1"}', "enum"],
    ['{"day":"2026-02-30"}', "match"],
    [JSON.stringify({ title: "a".repeat(5000) }), "maxlength"],
    [JSON.stringify(nested(5)), "maxlength"],
    [JSON.stringify({ or: Array.from({ length: 21 }, () => ({ stars: 1 })) }), "maxlength"],
    [JSON.stringify({ stars: { in: Array.from({ length: 101 }, () => 1) } }), "type"],
  ])("refuses %s", (text, rule) => {
    expect(read.text(text)).toMatchObject({ param: "where", name: rule });
  });

  it.each([
    ['{"stars":3}', { stars: { eq: 3 } }],
    ['{"stars":null}', { stars: { eq: null } }],
    ['{"stars":{"ne":null}}', { stars: { ne: null } }],
    ['{"stars":{"gte":1,"lt":3}}', { and: [{ stars: { gte: 1 } }, { stars: { lt: 3 } }] }],
    ['{"tags":"a"}', { tags: { contains: "a" } }],
    ['{"tags":{"nin":["a"]}}', { not: { tags: { containsAny: ["a"] } } }],
    ['{"level":2}', { level: { eq: 2 } }],
    ['{"done":true}', { done: { eq: true } }],
    [
      '{"or":[{"stars":1},{"not":{"title":{"prefix":"A"}}}]}',
      { or: [{ stars: { eq: 1 } }, { not: { title: { prefix: "A" } } }] },
    ],
    [JSON.stringify(nested(4)), { not: { not: { not: { not: { stars: { eq: 1 } } } } } }],
  ])("reads %s", (text, where) => {
    expect(read.text(text)).toEqual({ where });
  });

  it("reads any text or refuses it, and throws for none", () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"or":[${json}]}`),
    );
    fc.assert(
      fc.property(text, (given) => {
        const result = read.text(given);
        expect("where" in result || result.param === "where").toBe(true);
      }),
      { numRuns: propertyRuns(500, 5_000) },
    );
  });
});

const note = defineResource({
  name: "note",
  path: "/notes",
  schema,
  access: { list: "public", create: "public" },
  filter: ["title", "stars", "tags"],
});

describe("where of a list", () => {
  const list = async (query: string) => {
    const client = await openResource(note);
    for (const one of [
      { title: "Ant", stars: 1, tags: ["a"] },
      { title: "Bee", stars: 2, tags: ["a", "b"] },
      { title: "Cat" },
      { title: "Dog", stars: 5, tags: ["b"] },
    ]) {
      await client.as("", "POST", "/notes", one);
    }
    return client.as("", "GET", `/notes?${query}`);
  };
  const titlesOf = (json: { title: string }[]): string[] =>
    json.map(({ title }) => title).toSorted();

  it("finds what one of several conditions holds for, next to the other filters", async () => {
    const where = encodeURIComponent('{"or":[{"stars":{"gte":2}},{"title":"Ant"}]}');
    expect(titlesOf((await list(`where=${where}`)).json)).toEqual(["Ant", "Bee", "Dog"]);
    expect(titlesOf((await list(`where=${where}&tags=b`)).json)).toEqual(["Bee", "Dog"]);
    const none = await list("where=");
    expect(none.json).toHaveLength(4);
  });

  it("is refused for fields that are no filters, twice, and where nothing is filtered", async () => {
    for (const query of ['where={"done":true}', "where={}&where={}", "where=x"]) {
      const refused = await list(query);
      expect([refused.status, refused.json.param]).toEqual([400, "where"]);
    }
    const bare = defineResource({ ...plain, name: "thing", path: "/things" });
    const client = await openResource(bare);
    const unknown = await client.as("", "GET", "/things?where={}");
    expect([unknown.status, unknown.json.param]).toEqual([400, "where"]);
  });
});

const plain = { schema: z.object({ title: z.string() }), access: { list: "public" } } as const;
