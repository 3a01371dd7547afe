import { describe, expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { Upkeep } from "../src/engines/postgres/schema/upkeep.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes", { search: ["text"] });

describe("Entries of a search index", () => {
  it("are moved after a thousand documents, and once at a time", async () => {
    const moves: (() => void)[] = [];
    const upkeep = new Upkeep(() => {
      const { promise, resolve } = Promise.withResolvers<{ rows: []; count: number }>();
      moves.push(() => resolve({ rows: [], count: 1 }));
      return promise;
    });
    expect(upkeep.recordInserts("notes", 999)).toEqual([]);
    const [, move] = upkeep.recordInserts("notes", 1);
    const moving = move?.();
    expect(upkeep.recordInserts("notes", 1500)).toEqual([]);
    expect(moves).toHaveLength(1);
    moves[0]?.();
    await expect.poll(() => moves.length).toBe(2);
    moves[1]?.();
    await moving;
    expect(upkeep.recordInserts("notes", 400)).toEqual([]);
  });

  it.skipIf(noPostgres !== undefined)("do not pile up under several writers", async () => {
    const url = await newDatabase();
    const stores = await Promise.all(
      Array.from({ length: 4 }, () => openStore(url, { collections: [notes] })),
    );
    // So few and short that the server moves none of them by itself.
    await Promise.all(
      stores.map(async (store, own) => {
        for (let round = 0; round < 5; round += 1) {
          const some = Array.from({ length: 500 }, (_, index) => ({
            text: `note ${own * 10_000 + round * 500 + index}`,
          }));
          await store.collection(notes).insertMany(some);
        }
      }),
    );
    // Closing waits for what was begun.
    for (const store of stores) await store.close();
    await runSql(url, "CREATE EXTENSION IF NOT EXISTS pgstattuple");
    const [row] = await runSql(
      url,
      "SELECT (pgstatginindex(i.indexrelid)).pending_tuples::int AS pending FROM pg_index i " +
        "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam " +
        "WHERE i.indrelid = 'notes'::regclass AND amname = 'gin'",
    );
    // Each of the four may have added less than a thousand since.
    expect(Object(row)["pending"]).toBeLessThan(4000);
  });
});
