import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Note {
  text: string;
  tag: string;
  rank: number;
}

const notes = defineCollection<Note>("notes", { indexes: ["rank"], search: ["text"] });

const runningQuery =
  "SELECT count(*)::int AS running FROM pg_stat_activity WHERE state = 'active' " +
  "AND backend_type = 'client backend' AND query LIKE '%FROM \"notes\"%' AND pid <> pg_backend_pid()";

describe.skipIf(noPostgres !== undefined)("A read that may scan on PostgreSQL", () => {
  it.each([
    ["a filter without an index", { where: { tag: "none" } }],
    ["an order without an index", { sort: ["tag"], limit: 5 }],
    ["a search", { q: "note", sort: ["tag"], limit: 5 }],
  ] as const)("by %s waits for the two that run before it", async (_title, query) => {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [notes] });
    onTestFinished(() => store.close());
    const collection = store.collection(notes);
    const many = Array.from({ length: 10_000 }, (_, rank) => ({
      text: `note ${rank}`,
      tag: `tag ${rank % 977}`,
      rank,
    }));
    await collection.insertMany(many);
    const reads = Promise.all(Array.from({ length: 16 }, () => collection.find(query)));
    let isOver = false;
    const over = reads.finally(() => {
      isOver = true;
    });
    let most = 0;
    while (!isOver) {
      const [row] = await runSql(url, runningQuery);
      most = Math.max(most, Number(Object(row)["running"]));
      const start = await collection.find({ where: { rank: 5 } });
      expect(start).toHaveLength(1);
    }
    const found = await over;
    expect(found).toHaveLength(16);
    // One of those by the index may be running as well.
    expect(most).toBeLessThanOrEqual(3);
  });
});
