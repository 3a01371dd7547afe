import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { createStamps } from "../src/document/stamps.ts";
import { mayScan } from "../src/engines/operations/may-scan.ts";
import { PostgresLayout } from "../src/engines/postgres/statements/layout.ts";
import { parseQuery } from "../src/query/parse-query.ts";
import { newDatabase } from "./open-for-test.ts";
import { connectionOf, postgresVersions, runSql } from "./postgres-server.ts";

const bare = defineCollection<{ n: number }>("notes");
const notes = defineCollection<{ n: number }>("notes", { keepTotal: true });
const softDeleted = defineCollection<{ n: number }>("notes", { softDelete: true });
const softDeletedAndKept = defineCollection<{ n: number }>("notes", {
  keepTotal: true,
  softDelete: true,
});

const some = (count: number): readonly { n: number }[] =>
  Array.from({ length: count }, (_, n) => ({ n }));

const plainInsert =
  "INSERT INTO notes (id, version, created_at, updated_at, doc) " +
  "SELECT 'p' || n, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '{}' FROM generate_series(1, 9) AS n";

describe.each(postgresVersions.filter(([, bin]) => bin !== undefined))(
  "The total kept in %s",
  (_engine, bin) => {
    it("counts what was there before it, and what other programs change", async () => {
      const url = await newDatabase(bin);
      const before = await openStore(url, { collections: [bare] });
      onTestFinished(() => before.close());
      await before.collection(bare).insertMany(some(50));
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      const collection = store.collection(notes);
      expect(await collection.count()).toBe(50);
      // A program whose definition does not keep it.
      await before.collection(bare).insertMany(some(5));
      await runSql(url, plainInsert);
      expect(await collection.count()).toBe(64);
      await runSql(url, "DELETE FROM notes WHERE id LIKE 'p%' AND id > 'p3'");
      expect(await collection.count()).toBe(58);
      await runSql(url, `BEGIN; ${plainInsert.replaceAll("'p'", "'q'")}; ROLLBACK`);
      expect(await collection.count()).toBe(58);
      await runSql(url, `CREATE ROLE other_${process.pid}`).catch(() => undefined);
      await runSql(
        url,
        `GRANT INSERT ON notes TO other_${process.pid}; SET ROLE other_${process.pid}; ` +
          `SET search_path = pg_catalog; ${plainInsert.replaceAll("'p'", "'r'").replace("notes", "public.notes")}`,
      );
      expect(await collection.count()).toBe(67);
      expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
      await runSql(url, "TRUNCATE notes");
      expect(await collection.count()).toBe(0);
      await runSql(url, `DROP OWNED BY other_${process.pid}; DROP ROLE other_${process.pid}`);
    });

    it("is checked, and counted again when it was not kept for a while", async () => {
      const url = await newDatabase(bin);
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      await store.collection(notes).insertMany(some(5));
      await runSql(url, "ALTER TABLE notes DISABLE TRIGGER USER");
      await store.collection(notes).insertMany(some(2));
      const { problems } = await administer(store).check();
      expect(problems).toEqual([expect.stringMatching(/total kept of "notes" must be 7, got 5/)]);
      const again = await openStore(url, { collections: [notes] });
      onTestFinished(() => again.close());
      expect(await again.collection(notes).count()).toBe(7);
      await again.collection(notes).insert({ n: 1 });
      expect(await again.collection(notes).count()).toBe(8);
    });

    it("reads no more pages of more documents", async () => {
      const url = await newDatabase(bin);
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      const scans = async (): Promise<unknown> => {
        const [row] = await runSql(
          url,
          "SELECT seq_tup_read + coalesce(idx_scan, 0) AS read FROM pg_stat_user_tables WHERE relname = 'notes'",
        );
        return Number(Object(row)["read"]);
      };
      await store.collection(notes).insertMany(some(1000));
      const before = await scans();
      for (let round = 0; round < 10; round += 1) await store.collection(notes).count();
      expect(await scans()).toBe(before);
    });

    it("lets no writer wait for the transaction of another one", async () => {
      const url = await newDatabase(bin);
      await (await openStore(url, { collections: [notes] })).close();
      const [first, second] = await connectToOneSlot(url);
      onTestFinished(async () => {
        await first.end();
        await second.end();
      });
      await first.query(`BEGIN; ${plainInsert}`);
      await second.query(`SET statement_timeout = 5000; ${plainInsert.replaceAll("'p'", "'q'")}`);
      await first.query("COMMIT");
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      expect(await store.collection(notes).count()).toBe(18);
      const rows = await runSql(url, 'SELECT slot FROM "fetchwork:totals" WHERE slot >= 0');
      expect(rows).toHaveLength(2);
    });

    it("is counted again when removed documents are kept from now on", async () => {
      const url = await newDatabase(bin);
      const before = await openStore(url, { collections: [notes] });
      onTestFinished(() => before.close());
      const [note] = await before.collection(notes).insertMany(some(5));
      const after = await openStore(url, { collections: [softDeleted] });
      onTestFinished(() => after.close());
      await after.collection(softDeleted).remove(note?.id ?? "");
      expect(await before.collection(notes).count()).toBe(4);
      expect(await after.collection(softDeleted).count()).toBe(4);
      const both = await openStore(url, { collections: [softDeletedAndKept] });
      onTestFinished(() => both.close());
      await both.collection(softDeletedAndKept).restore(note?.id ?? "");
      expect(await both.collection(softDeletedAndKept).count()).toBe(5);
      expect(await administer(both).check()).toEqual({ ok: true, problems: [] });
    });

    it("is dropped with what is unused, and is exact for those who go on asking for it", async () => {
      const url = await newDatabase(bin);
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      await store.collection(notes).insertMany(some(5));
      const other = await openStore(url, { collections: [bare] });
      onTestFinished(() => other.close());
      await administer(other).dropUnused([bare]);
      await other.collection(bare).insertMany(some(2));
      expect(await store.collection(notes).count()).toBe(7);
      const triggers = await runSql(
        url,
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'notes'::regclass",
      );
      expect(triggers).toEqual([]);
      const again = await openStore(url, { collections: [notes] });
      onTestFinished(() => again.close());
      await other.collection(bare).insertMany(some(2));
      expect(await again.collection(notes).count()).toBe(9);
      expect(await administer(again).check()).toEqual({ ok: true, problems: [] });
    });

    it("is counted while a store with many documents is in use", async () => {
      const url = await newDatabase(bin);
      await (await openStore(url, { collections: [bare] })).close();
      await runSql(url, plainInsert.replace("(1, 9)", "(1, 20000)"));
      const store = await openStore(url, { collections: [notes] });
      onTestFinished(() => store.close());
      const collection = store.collection(notes);
      await collection.insert({ n: 1 });
      expect(await collection.count()).toBe(20_001);
      await administer(store).built();
      await collection.insert({ n: 1 });
      expect(await collection.count()).toBe(20_002);
      const [kept] = await runSql(url, 'SELECT min(slot) AS first FROM "fetchwork:totals"');
      expect(kept).toEqual({ first: -1 });
      expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    });

    it("does not wait for slow reads", () => {
      const mayScanWith = (definition: typeof notes, where?: object): boolean => {
        const { filter, words, deleted } = parseQuery({ where });
        const count = { filter, words, deleted };
        return mayScan(new PostgresLayout(definition, createStamps()), { count });
      };
      expect(mayScanWith(notes)).toBe(false);
      expect(mayScanWith(notes, { n: 1 })).toBe(true);
      expect(mayScanWith(bare)).toBe(true);
    });
  },
);

/** Connects twice, to server processes that look for a row of the total from the same one on. */
async function connectToOneSlot(url: string): Promise<readonly [Client, Client]> {
  const slotOf = async (client: Client): Promise<unknown> => {
    const { rows } = await client.query("SELECT pg_backend_pid() % 64 AS slot");
    return rows[0]?.slot;
  };
  const first = await connect(url);
  for (;;) {
    const second = await connect(url);
    if ((await slotOf(first)) === (await slotOf(second))) return [first, second];
    await second.end();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client(connectionOf(url));
  await client.connect();
  return client;
}
