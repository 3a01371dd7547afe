import { describe, expect, it } from "vitest";
import { app as blog } from "../../../examples/blog/src/app.ts";
import { newDatabase } from "../../documents/test/open-for-test.ts";
import { noPostgres } from "../../documents/test/postgres-server.ts";
import { verifyService } from "../src/index.ts";
import { raceFaults } from "./seeded-races.ts";

describe.skipIf(noPostgres !== undefined)(
  "verifyService() with a database of PostgreSQL",
  { timeout: 300_000 },
  () => {
    it("finds nothing in the blog, as in memory, and leaves no documents there", async () => {
      const database = await newDatabase();
      const first = await verifyService(blog, { database });
      expect(first.findings).toEqual([]);
      const { reads } = await verifyService(blog);
      expect(first.reads).toEqual(reads);
      expect((await verifyService(blog, { database })).findings).toEqual([]);
    });

    it("finds a counter outside of the transaction", async () => {
      const [fault] = raceFaults.filter(
        ({ name }) => name === "a counter outside of the transaction",
      );
      if (fault === undefined) throw new Error("the fault is missing");
      const { expected, faulty, invariants = [], repaired } = fault;
      const ofFaulty = await verifyService(faulty(), { database: await newDatabase(), invariants });
      expect(ofFaulty.findings).toContainEqual(expect.objectContaining(expected));
      const ofRepaired = await verifyService(repaired(), {
        database: await newDatabase(),
        invariants,
      });
      expect(ofRepaired.findings).toEqual([]);
    });
  },
);
