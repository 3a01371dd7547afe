import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { connectionOf, POSTGRES, runSql } from "./postgres-server.ts";

const bare = defineCollection<{ n: number }>("notes");
const notes = defineCollection<{ n: number }>("notes", { counter: true });

const some = (count: number): readonly { n: number }[] =>
  Array.from({ length: count }, (_, n) => ({ n }));

const plainInsert =
  "INSERT INTO notes (id, version, created_at, updated_at, doc) " +
  "SELECT 'p' || n, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '{}' FROM generate_series(1, 9) AS n";

describe.each(POSTGRES.filter(([, bin]) => bin !== undefined))(
  "A counter in %s",
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
      // A program whose definition has no counter.
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
      expect(problems).toEqual([expect.stringMatching(/counter of "notes" is 5, expected 7/)]);
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
      const [first, second] = await connectToTwoSlots(url);
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
    });
  },
);

/** Connects twice, to server processes that count in different rows. */
async function connectToTwoSlots(url: string): Promise<readonly [Client, Client]> {
  const first = await connect(url);
  for (;;) {
    const second = await connect(url);
    const slots = [];
    for (const client of [first, second]) {
      const { rows } = await client.query("SELECT pg_backend_pid() % 64 AS slot");
      slots.push(rows[0]?.slot);
    }
    if (slots[0] !== slots[1]) return [first, second];
    await second.end();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client(connectionOf(url));
  await client.connect();
  return client;
}
