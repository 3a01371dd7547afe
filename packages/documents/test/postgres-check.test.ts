import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Seat {
  seat: string;
  row?: number;
}

const seats = defineCollection<Seat>("Seats", {
  unique: ["seat"],
  indexes: ["row"],
  search: ["seat"],
  softDelete: true,
  changes: "documents",
});

/** A store with documents that were added, changed and removed. */
async function filled(
  distributed: boolean,
): Promise<{ readonly url: string; readonly store: Store }> {
  const url = await newDatabase();
  const store = await openStore(url, { collections: [seats], postgres: { distributed } });
  onTestFinished(() => store.close());
  const collection = store.collection(seats);
  const added = await collection.insertMany(
    Array.from({ length: 700 }, (_, row) => ({ seat: `A${row}`, row })),
  );
  for (const { id } of added.slice(0, 3)) await collection.update(id, { row: -1 });
  for (const { id } of added.slice(3, 6)) await collection.remove(id);
  return { url, store };
}

describe.skipIf(noPostgres !== undefined)("The check of a store on PostgreSQL", () => {
  it.each([false, true])("finds nothing wrong; distributed: %j", async (distributed) => {
    const { url, store } = await filled(distributed);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    await runSql(url, "CREATE EXTENSION IF NOT EXISTS amcheck");
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });

  it.each([
    [
      'the document "x"',
      `UPDATE "Seats" SET doc = '[]' WHERE id = 'x'`,
      'the document "x" of "Seats" is damaged',
    ],
    [
      "search texts",
      `UPDATE "Seats" SET search = NULL WHERE id = 'x'`,
      'the search of "Seats" lacks 1 documents',
    ],
    [
      "a version",
      `UPDATE "Seats" SET version = 1 WHERE id = 'x'`,
      'the feed has a later version of "x" of "Seats"',
    ],
    ["a table", `DROP TABLE "Seats"`, 'the table of "Seats" is missing'],
    [
      "the feed",
      `ALTER TABLE "fetchwork:changes" ALTER position RESTART`,
      "the feed would use positions again that it has",
    ],
    [
      "a consumer",
      `INSERT INTO "fetchwork:positions" VALUES ('a', 1000000)`,
      "a consumer of the feed is ahead of it",
    ],
  ])("tells of %s", async (_what, damage, problem) => {
    const { url, store } = await filled(false);
    await store.collection(seats).insert({ seat: "X" }, { id: "x" });
    await store.collection(seats).update("x", { row: 7 });
    await runSql(url, damage);
    const { ok, problems } = await administer(store).check();
    expect(ok).toBe(false);
    expect(problems).toContain(problem);
    if (!damage.startsWith("DROP")) expect(problems).toHaveLength(1);
    // What was dropped is not there to be emptied.
    if (damage.startsWith("DROP")) await runSql(url, 'DELETE FROM "fetchwork:collections"');
  });

  it("tells of an index that is not finished", async () => {
    const { url, store } = await filled(false);
    await runSql(
      url,
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = " +
        "(SELECT oid FROM pg_class WHERE relname LIKE 'Seats:index:%')",
    );
    expect((await administer(store).check()).problems).toEqual([
      expect.stringMatching(/^the index "Seats:index:[0-9a-f]{16}" is not finished/),
    ]);
  });

  it("tells of an index that lacks a row, by amcheck", async () => {
    const { url, store } = await filled(false);
    await runSql(
      url,
      'CREATE EXTENSION IF NOT EXISTS amcheck; ALTER TABLE "Seats" ADD COLUMN hidden int; ' +
        `UPDATE pg_index SET indisready = false WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname LIKE 'Seats:index:%')`,
    );
    // Written while nothing kept the index up.
    await store.collection(seats).insert({ seat: "lost", row: 1 });
    await runSql(
      url,
      "UPDATE pg_index SET indisready = true WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname LIKE 'Seats:index:%')",
    );
    expect((await administer(store).check()).problems).toEqual([
      expect.stringMatching(/^the index "Seats:index:[0-9a-f]{16}" is damaged/),
    ]);
  });

  it("compares claims with documents in a distributed store", async () => {
    const { url, store } = await filled(true);
    const [one, two] = await store.collection(seats).find({ limit: 2 });
    await runSql(
      url,
      `DELETE FROM "fetchwork:claims" WHERE id = '${one?.id}'; ` +
        `DELETE FROM "Seats" WHERE id = '${two?.id}'`,
    );
    expect((await administer(store).check()).problems).toEqual([
      `unique values of "Seats" are held for "${two?.id}", which does not exist`,
      `the unique values of "${one?.id}" of "Seats" are not those held`,
    ]);
  });

  it("says what makes a backup instead", async () => {
    const { store } = await filled(false);
    await expect(administer(store).backup("a.db")).rejects.toThrow("fetchwork db backup");
  });
});
