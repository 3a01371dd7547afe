import { describe, expect, it } from "vitest";
import type { Operation } from "../src/engines/operation.ts";
import type { Layout } from "../src/engines/layout.ts";
import { readPlanned, type ReadResult } from "../src/engines/operations/find.ts";
import { unpackedRow } from "../src/document/stored.ts";
import { defineCollection } from "../src/index.ts";
import { parseCount, parseQuery } from "../src/query/parse-query.ts";
import { fillPostgres, fillSqlite, isAbout } from "./measured-reads.ts";
import { noPostgres } from "./postgres-server.ts";
import { propertyRuns } from "./property-runs.ts";

const notes = defineCollection<{ text: string }>("notes", { search: ["text"] });
const sizes = { small: 10_000, large: propertyRuns(30_000, 200_000) };

/** The search text of document n, in the SQL of both engines. */
const searchText =
  "'  note' || CASE WHEN n % 4 = 0 THEN '  harbour' ELSE '  ship' END || " +
  "CASE WHEN n <= 2000 THEN '  oldies' ELSE '' END || CASE WHEN n = 5007 THEN '  zq  unicorn' ELSE '' END";

/** Reads a page of a search and its count, as a list of an API asks for them. */
function search(q: string): (layout: Layout) => Operation<ReadResult> {
  const query = parseQuery({ q, limit: 30 });
  const plan = { find: { query, after: undefined }, count: parseCount({ q, max: 1001 }) };
  return (layout) => readPlanned(layout, plan);
}

describe.each([
  ["SQLite", "rows", fillSqlite],
  ["PostgreSQL", "pages", fillPostgres],
] as const)("The search of %s", (engine, unit, fill) => {
  it.skipIf(engine === "PostgreSQL" && noPostgres !== undefined)(
    `looks at as many ${unit} of ${sizes.large} documents as of ${sizes.small}`,
    async () => {
      const small = await fill({ definition: notes, count: sizes.small, searchText });
      const large = await fill({ definition: notes, count: sizes.large, searchText });
      for (const [q, count] of [
        ["unicorn", 1],
        ["nothing", 0],
        ["harbour", 1001],
        ["no", 1001],
        ["n", 1001],
        ["zq", 1],
      ] as const) {
        const [few, many] = [await small(search(q)), await large(search(q))];
        expect([q, few.result.count, many.result.count]).toEqual([q, count, count]);
        expect(many.result.rows).toHaveLength(Math.min(count, 30));
        expect([q, few.cost, many.cost]).toEqual([
          q,
          few.cost,
          expect.toSatisfy(isAbout(few.cost)),
        ]);
      }
      // Common words far from the begin of the order: 10,600 documents are walked twice in vain.
      const { cost, result } = await large(search("oldies"));
      expect(result.rows.map((row) => unpackedRow(row)[0])).toEqual(
        Array.from({ length: 30 }, (_, place) => `id${String(2000 - place).padStart(8, "0")}`),
      );
      expect(cost).toBeLessThan(30_000);
    },
  );
});
