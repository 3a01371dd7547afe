import { describe, expect, it } from "vitest";
import type { Operation } from "../src/engines/operation.ts";
import type { Layout } from "../src/engines/layout.ts";
import { readPlanned } from "../src/engines/operations/find.ts";
import { getDocument } from "../src/engines/operations/get.ts";
import { defineCollection } from "../src/index.ts";
import { type CountQuery, type FindQuery } from "../src/index.ts";
import { parseCount, parseQuery } from "../src/query/parse-query.ts";
import { fillPostgres, fillSqlite, isAbout } from "./measured-reads.ts";
import { noPostgres } from "./postgres-server.ts";
import { propertyRuns } from "./property-runs.ts";

interface Post {
  title: string;
  rank: number;
  tags: string[];
}

const posts = defineCollection<Post>("posts", {
  indexes: ["title", "rank", "tags"],
  softDelete: true,
  keepTotal: true,
});
const document =
  `'{"title":"title ' || n || '","rank":' || n || ',"tags":["all"' || ` +
  `CASE WHEN n <= 9000 AND n % 100 = 0 THEN ',"rare"' ELSE '' END || ']}'`;
const sizes = { small: 10_000, large: propertyRuns(30_000, 400_000) };

type Read = (
  layout: Layout,
) => Operation<{ readonly rows: readonly unknown[]; readonly count: number }>;

function find(query: FindQuery<Post>, after?: readonly string[]): Read {
  const plan = { find: { query: parseQuery(query), after } };
  return (layout) => readPlanned(layout, plan);
}

function count(query: CountQuery<Post>): Read {
  return (layout) => readPlanned(layout, { count: parseCount(query) });
}

/** Reads with the number of documents that they find. */
const reads: readonly (readonly [name: string, found: number, read: Read])[] = [
  ["the first page", 30, find({ limit: 30 })],
  ["the second page", 30, find({ limit: 30, offset: 30 })],
  ["a page after a cursor", 30, find({ limit: 30 }, ["2026-01-01T00:00005000Z", "id00005000"])],
  ["a page in the order of an index", 30, find({ sort: ["title"], limit: 30 })],
  ["a range of an index", 11, find({ where: { rank: { gte: 5000, lte: 5010 } }, limit: 30 })],
  ["a value of an index", 1, find({ where: { title: "title 7000" }, limit: 30 })],
  ["a value that no document has", 0, find({ where: { title: "nothing" }, limit: 30 })],
  ["a member that all lists have", 30, find({ where: { tags: { contains: "all" } }, limit: 30 })],
  ["a member of few lists", 30, find({ where: { tags: { contains: "rare" } }, limit: 30 })],
  ["a member that no list has", 0, find({ where: { tags: { contains: "none" } }, limit: 30 })],
  ["a count of few members", 90, count({ where: { tags: { contains: "rare" } }, max: 1001 })],
  ["a count up to a number", 1001, count({ where: { rank: { gte: 100 } }, max: 1001 })],
];

describe.each([
  ["SQLite", "rows", fillSqlite],
  ["PostgreSQL", "pages", fillPostgres],
] as const)("A read of %s", (engine, unit, fill) => {
  it.skipIf(engine === "PostgreSQL" && noPostgres !== undefined)(
    `looks at as many ${unit} of ${sizes.large} documents as of ${sizes.small}`,
    async () => {
      const small = await fill({ definition: posts, count: sizes.small, document });
      const large = await fill({ definition: posts, count: sizes.large, document });
      for (const [name, found, read] of reads) {
        const [few, many] = [await small(read), await large(read)];
        const expected = { name, found, isFew: true, isAbout: true };
        expect({
          name,
          found: many.result.rows.length + many.result.count,
          isFew: few.cost < 3000 ? true : few.cost,
          isAbout: isAbout(few.cost)(many.cost) ? true : [few.cost, many.cost],
        }).toEqual(expected);
      }
      const [fewer, all] = [await small(count({})), await large(count({}))];
      expect([fewer.result.count, all.result.count]).toEqual([sizes.small, sizes.large]);
      expect(all.cost).toBeLessThanOrEqual(fewer.cost + 2);
      const get = (layout: Layout): Operation<unknown> => getDocument(layout, "id00005000");
      const [few, many] = [await small(get), await large(get)];
      expect(many.result).toMatchObject({ title: "title 5000" });
      expect(many.cost).toBeLessThanOrEqual(few.cost + 2);
    },
  );
});

describe.each([
  ["SQLite", "rows", fillSqlite],
  ["PostgreSQL", "pages", fillPostgres],
] as const)("A page of %s", (engine, unit, fill) => {
  it.skipIf(engine === "PostgreSQL" && noPostgres !== undefined)(
    `looks at few ${unit} for a member of one in four of 10,000 lists`,
    async () => {
      const quarter = `'{"rank":' || n || ',"tags":["' || (n % 4) || '"]}'`;
      const read = await fill({ definition: posts, count: 10_000, document: quarter });
      for (const sort of ["rank", "-createdAt"] as const) {
        const { cost, result } = await read(
          find({ where: { tags: { contains: "3" } }, sort: [sort], limit: 30 }),
        );
        expect(result.rows).toHaveLength(30);
        expect([sort, cost]).toEqual([sort, expect.toSatisfy((rows) => Number(rows) < 500)]);
      }
    },
  );
});
