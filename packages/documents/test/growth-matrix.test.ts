import { describe, expect, it } from "vitest";
import type { Layout } from "../src/engines/layout.ts";
import type { Operation } from "../src/engines/operation.ts";
import { readPlanned, type ReadResult } from "../src/engines/operations/find.ts";
import { defineCollection, type FindQuery, type SortKey, type Where } from "../src/index.ts";
import { parseQuery } from "../src/query/parse-query.ts";
import { fillPostgres, fillSqlite, isAbout, type Measure } from "./measured-reads.ts";
import { noPostgres } from "./postgres-server.ts";
import { propertyRuns } from "./property-runs.ts";

interface Post {
  title: string;
  author: string;
  status: string;
  kind: string;
  views: number;
  /** No document has it. */
  gone: string;
}

const posts = defineCollection<Post>("posts", {
  indexes: ["title", "author", "status", "kind", "views", "gone", ["kind", "views"]],
  keepTotal: true,
});
const texts = defineCollection<Post>("texts", { search: ["title"] });
const document =
  `'{"title":"title ' || n || '","views":' || (n * 7919 % 1000003) || ',"author":"a' || (n / 20) || ` +
  `'","kind":"' || (n % 7) || '","status":"' || CASE n % 10 WHEN 0 THEN 'draft' ELSE 'published' END || '"}'`;
const sizes = { small: 10_000, large: propertyRuns(40_000, 200_000) };

/** One condition each, on what many, some, few and no documents have. */
const conditions: Readonly<Record<string, Where<Post>>> = {
  "a value that 90 % have": { status: "published" },
  "a value that 10 % have": { status: "draft" },
  "a value that 20 documents have": { author: "a123" },
  "a value that no document has": { author: "nobody" },
  "a field that no document has": { gone: null },
  "a missing field with a value": { gone: "x" },
  "half of a range": { views: { gte: 500_000 } },
  "a tenth of a range": { views: { lt: 100_000 } },
  "the end of a range": { views: { gte: 999_500 } },
  "a prefix that many have": { title: { prefix: "title" } },
  "a prefix that one has": { title: { prefix: "title 7000" } },
  "two values": { kind: { in: ["2", "3"] } },
};
const orders: readonly (readonly SortKey<Post>[] | undefined)[] = [
  undefined,
  ["createdAt"],
  ["views"],
  ["-views"],
  ["title"],
];

/** Filters that a declared index of both fields serves. */
const served: Readonly<Record<string, FindQuery<Post>>> = {
  "a value and a range": { where: { kind: "3", views: { gte: 500_000 } } },
  "a value, in the order of the other field": { where: { kind: "3" }, sort: ["-views"] },
  "both, in the order of the other field": {
    where: { kind: "3", views: { lt: 100_000 } },
    sort: ["views"],
  },
};

function find(
  query: FindQuery<Post>,
  isBounded = false,
): (layout: Layout) => Operation<ReadResult> {
  const parsed = parseQuery({ limit: 30, ...query });
  const plan = { find: { query: parsed, after: undefined }, isBounded };
  return (layout) => readPlanned(layout, plan);
}

/**
 * Returns both costs of a read where that of the large collection is higher, and false where it is
 * about the same.
 */
async function growth(
  { small, large }: { readonly small: Measure; readonly large: Measure },
  query: FindQuery<Post>,
): Promise<readonly number[] | false> {
  const [few, many] = [await small(find(query)), await large(find(query))];
  return isAbout(Math.max(few.cost, 300))(many.cost) ? false : [few.cost, many.cost];
}

/** What a bounded read looks at that no single index serves, in rows. */
const maxRows = 20_000;

describe("A filter on SQLite", () => {
  it("looks at as many rows of a large collection as of a small one", async () => {
    const small = await fillSqlite({ definition: posts, count: sizes.small, document });
    const large = await fillSqlite({ definition: posts, count: sizes.large, document });
    for (const [name, where] of Object.entries(conditions)) {
      for (const sort of orders) {
        const grows = await growth({ small, large }, { where, sort });
        expect({ name, sort, grows }).toEqual({ name, sort, grows: false });
      }
    }
    for (const [name, query] of Object.entries(served)) {
      const grows = await growth({ small, large }, query);
      expect({ name, grows }).toEqual({ name, grows: false });
    }
  });

  it("by any two conditions looks at a bounded number of rows", async () => {
    const read = await fillSqlite({ definition: posts, count: sizes.large, document });
    const all = Object.entries(conditions);
    for (const [name, one] of all) {
      for (const [other, another] of all) {
        const { cost } = await read(find({ where: { and: [one, another] } }, true));
        const rows = cost <= maxRows ? "few" : cost;
        expect({ name, other, rows }).toEqual({ name, other, rows: "few" });
      }
    }
  });

  it("of words looks at a bounded number of rows, alone and in pairs", async () => {
    const searchText = `'alpha' || (n % 2) || ' beta' || (n % 2) || ' gamma' || (n % 1000) || ' delta'`;
    const read = await fillSqlite({ definition: texts, count: sizes.large, searchText });
    for (const q of [
      "alpha0",
      "delta",
      "alpha0 beta1",
      "gamma7",
      "gamma7 beta0",
      "nothing",
      "a b",
    ]) {
      const { cost } = await read(find({ q }, true));
      expect({ q, rows: cost <= maxRows ? "few" : cost }).toEqual({ q, rows: "few" });
    }
  });
});

describe("A filter on PostgreSQL", () => {
  it.skipIf(noPostgres !== undefined)(
    "looks at as many pages of a large collection as of a small one",
    async () => {
      const small = await fillPostgres({ definition: posts, count: sizes.small, document });
      const large = await fillPostgres({ definition: posts, count: sizes.large, document });
      for (const [name, where] of Object.entries(conditions)) {
        for (const sort of [undefined, ["-views"]] as const) {
          const grows = await growth({ small, large }, { where, sort });
          expect({ name, sort, grows }).toEqual({ name, sort, grows: false });
        }
      }
    },
    120_000,
  );
});
