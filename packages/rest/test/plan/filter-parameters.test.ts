import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { createListReader } from "../../src/plan/list-query.ts";
import { Problem } from "../../src/problem.ts";
import { filterField } from "../../src/resource/filter-field.ts";
import type { ListRules } from "../../src/resource/list-rules.ts";
import { jsonSchemaOf, propertiesOf } from "../../src/schema.ts";

const properties = propertiesOf(
  jsonSchemaOf(
    z.object({
      title: z.string(),
      stars: z.int(),
      price: z.number().nullable(),
      done: z.boolean().optional(),
      state: z.enum(["new", "old"]),
      level: z.literal([1, 2]),
      day: z.iso.date(),
      at: z.iso.datetime({ offset: true }),
      tags: z.array(z.string()),
      scores: z.array(z.number()).optional(),
      address: z.object({ city: z.string() }),
      mixed: z.union([z.string(), z.number()]),
      and: z.string(),
    }),
    "output",
  ),
  "test",
);
const fields = Object.keys(properties).filter((name) => name !== "mixed" && name !== "and");
const rules: ListRules = {
  sortable: ["id"],
  selectable: ["id"],
  defaultSort: ["id"],
  filters: [
    ...[...fields, "address.city"].map((path) => filterField(path, properties)),
    { path: "createdAt", type: { kind: "stored-time", values: undefined, isList: false } },
  ],
};

function where(text: string): unknown {
  return createListReader(rules)(new URLSearchParams(text)).where;
}

/** A value of each field that does not take 1. */
const valid: Readonly<Record<string, string>> = {
  done: "true",
  state: "new",
  day: "2026-01-01",
  at: "2026-01-01",
};

describe("filters", () => {
  it.each([
    ["stars=many", "stars", "type"],
    ["stars=", "stars", "type"],
    ["stars=1.5", "stars", "type"],
    ["stars=0x10", "stars", "type"],
    ["stars=9007199254740993", "stars", "type"],
    ["stars[gte]=x", "stars[gte]", "type"],
    ["stars[in]=1,x", "stars[in]", "type"],
    ["price=1e999", "price", "type"],
    ["price=Infinity", "price", "type"],
    ["price=NaN", "price", "type"],
    ["done=1", "done", "type"],
    ["done=yes", "done", "type"],
    ["state=lost", "state", "enum"],
    ["state[in]=new,lost", "state[in]", "enum"],
    ["level=3", "level", "enum"],
    ["day=2026-02-30", "day", "match"],
    ["day=2026-2-3", "day", "match"],
    ["at=yesterday", "at", "match"],
    ["at=2026-01-01T25:00:00Z", "at", "match"],
    ["at=2026-02-30T00:00:00Z", "at", "match"],
    ["createdAt[lt]=2026-13-01", "createdAt[lt]", "match"],
    ["title[exists]=maybe", "title[exists]", "type"],
    ["scores[contains]=x", "scores[contains]", "type"],
    [`title=${"x".repeat(501)}`, "title", "maxlength"],
    [`title[in]=${"x,".repeat(100)}`, "title[in]", "maxlength"],
    ["title=a&title=b", "title", "once"],
    ["stars[gte]=1&stars[gte]=2", "stars[gte]", "once"],
  ])("refuse %s", (text, param, name) => {
    expect(() => where(text)).toThrow(
      expect.objectContaining({
        status: 400,
        errors: [expect.objectContaining({ param, name, valid: false })],
      }),
    );
  });

  it("never repeat the value that they refuse", () => {
    expect(() => where("stars=hunter2")).toThrow(/^(?!.*hunter2)/);
  });

  it.each([
    ["title=x", { title: { eq: "x" } }],
    ["title=", { title: { eq: "" } }],
    ["title[eq]=x", { title: { eq: "x" } }],
    ["title[ne]=x", { title: { ne: "x" } }],
    ["title[prefix]=Ab", { title: { prefix: "Ab" } }],
    ["title%5Bprefix%5D=Ab", { title: { prefix: "Ab" } }],
    ["title[in]=a, b,c", { title: { in: ["a", " b", "c"] } }],
    ["stars[gte]=3", { stars: { gte: 3 } }],
    ["stars[in]=1, 2", { stars: { in: [1, 2] } }],
    ["stars[nin]=1", { stars: { notIn: [1] } }],
    ["stars=-0", { stars: { eq: -0 } }],
    ["price=1.5e3", { price: { eq: 1500 } }],
    ["price[exists]=false", { price: { eq: null } }],
    ["price[exists]=true", { price: { ne: null } }],
    ["done=false", { done: { eq: false } }],
    ["state=new", { state: { eq: "new" } }],
    ["level=2", { level: { eq: 2 } }],
    ["day[lt]=2024-02-29", { day: { lt: "2024-02-29" } }],
    ["at[lt]=2026-01-01", { at: { lt: "2026-01-01T00:00:00.000Z" } }],
    ["at=2026-01-01T10:00:00Z", { at: { eq: "2026-01-01T10:00:00Z" } }],
    ["at=2026-01-01T10:00:00%2B02:00", { at: { eq: "2026-01-01T08:00:00.000Z" } }],
    ["at=2026-01-01T10:00:00+02:00", { at: { eq: "2026-01-01T08:00:00.000Z" } }],
    ["createdAt[gte]=2026-01-01T10:00:00Z", { createdAt: { gte: "2026-01-01T10:00:00.000Z" } }],
    ["tags=a", { tags: { contains: "a" } }],
    ["tags[contains]=a", { tags: { contains: "a" } }],
    ["tags[in]=a,b", { tags: { containsAny: ["a", "b"] } }],
    ["tags[nin]=a,b", { not: { tags: { containsAny: ["a", "b"] } } }],
    ["scores=1", { scores: { contains: 1 } }],
    ["address[exists]=true", { address: { ne: null } }],
    ["address.city=Bonn", { "address.city": { eq: "Bonn" } }],
    ["stars[gte]=1&stars[lt]=3", { and: [{ stars: { gte: 1 } }, { stars: { lt: 3 } }] }],
  ])("understand %s", (text, expected) => {
    expect(where(text)).toEqual(expected);
  });

  it.each([
    "done[gt]=true",
    "state[prefix]=n",
    "stars[prefix]=1",
    "tags[gt]=a",
    "address=x",
    "title[]=x",
  ])("do not know %s", (text) => {
    expect(() => where(text)).toThrow(/is not a parameter here/);
  });

  it("are at most 20 in one request", () => {
    const all = [...fields, "createdAt"].flatMap((name) => [
      `${name}[exists]=true`,
      ...(name === "address" ? [] : [`${name}[${name === "done" ? "ne" : "in"}]`]).map(
        (filter) => `${filter}=${valid[name] ?? "1"}`,
      ),
    ]);
    expect(() => where(all.slice(0, 20).join("&"))).not.toThrow();
    expect(() => where(all.slice(0, 21).join("&"))).toThrow("a list takes at most 20 filters");
  });

  it("either refuse or demand something of declared fields only, for any query", () => {
    const name = fc.oneof(
      fc.constantFrom("stars[gte]", "title", "tags[in]", "at", "__proto__", "constructor", "level"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        try {
          const found = createListReader(rules)(new URLSearchParams(pairs)).where ?? {};
          const conditions = "and" in found ? (found["and"] as object[]) : [found];
          for (const condition of conditions) {
            for (const path of Object.keys(condition)) {
              expect(["not", ...fields, "createdAt", "address.city"]).toContain(path);
            }
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
    );
  });
});

describe("filterField", () => {
  it.each([
    "nothing",
    "title.length",
    "__proto__",
    "constructor",
    "mixed",
    "and",
    "address.street",
  ])("refuses %s in a definition", (path) => {
    expect(() => filterField(path, properties)).toThrow(RestError);
  });
});
