import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  administer,
  defineCollection,
  openStore,
  type Store,
  type StoreOptions,
} from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPgBouncer, startPgBouncer } from "./pgbouncer.ts";
import { connectionOf, noPostgres, runSql } from "./postgres-server.ts";

interface Account {
  email: string;
  balance: number;
}

const accounts = defineCollection<Account>("accounts", {
  unique: ["email"],
  indexes: ["balance"],
  search: ["email"],
  changes: "ids",
});

const reason = noPostgres ?? noPgBouncer;

describe.skipIf(reason !== undefined).each(["session", "transaction"] as const)(
  `A store behind PgBouncer in %s mode${reason === undefined ? "" : ` (${reason})`}`,
  (mode) => {
    /** Opens two stores, which share few connections to the server. */
    async function openTwo(
      options: StoreOptions = {},
    ): Promise<{ readonly stores: readonly [Store, Store]; readonly server: string }> {
      const server = await newDatabase();
      const poolSize = mode === "transaction" ? 3 : 60;
      const pooler = await startPgBouncer(server, { mode, poolSize });
      onTestFinished(() => pooler.stop());
      const url = pooler.url(connectionOf(server).database);
      const open = async (): Promise<Store> => {
        const postgres = { prepare: mode === "session" };
        const store = await openStore(url, { collections: [accounts], postgres, ...options });
        onTestFinished(() => store.close());
        return store;
      };
      const [one, other] = await Promise.all([open(), open()]);
      return { stores: [one, other], server };
    }

    it("runs every statement, though the next one goes through another connection", async () => {
      const { stores } = await openTwo();
      const work = stores.flatMap((store, which) =>
        Array.from({ length: 40 }, async (_, index) => {
          const collection = store.collection(accounts);
          const { id } = await collection.insert({ email: `${which}-${index}`, balance: index });
          await collection.update(id, { balance: index + 1 });
          return [
            await collection.get(id),
            await collection.find({ where: { email: `${which}-${index}` } }),
            await collection.find({ q: `${which}-${index}`, limit: 1 }),
          ] as const;
        }),
      );
      for (const [got, found, searched] of await Promise.all(work)) {
        expect(got?.version).toBe(2);
        expect(found).toEqual([got]);
        expect(searched).toHaveLength(1);
      }
      expect(await stores[0].collection(accounts).count()).toBe(80);
    });

    it("keeps transactions that meet apart", async () => {
      const { stores } = await openTwo();
      const { id } = await stores[0].collection(accounts).insert({ email: "a", balance: 0 });
      const add = (store: Store): Promise<unknown> =>
        store.transaction(async (transaction) => {
          const collection = transaction.collection(accounts);
          const { balance = 0 } = (await collection.get(id)) ?? {};
          await collection.update(id, { balance: balance + 1 });
        });
      await Promise.all(stores.flatMap((store) => Array.from({ length: 8 }, () => add(store))));
      expect(await stores[1].collection(accounts).get(id)).toMatchObject({ balance: 16 });
    });

    it("builds new indexes once, while another store does so too", async () => {
      const { stores, server } = await openTwo();
      await stores[0].collection(accounts).insertMany([{ email: "a", balance: 1 }]);
      const more = defineCollection<Account>("others", { indexes: ["balance"], unique: ["email"] });
      await Promise.all(
        stores.map((store) =>
          store.collection(more).insert({ email: `${stores.indexOf(store)}`, balance: 2 }),
        ),
      );
      expect(await stores[0].collection(more).count()).toBe(2);
      const locks = "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'";
      expect(await runSql(server, locks)).toEqual([{ count: 0 }]);
      expect(await administer(stores[0]).check()).toEqual({ ok: true, problems: [] });
    });

    it("follows the changes of another store", async () => {
      const { stores } = await openTwo();
      const changes = stores[1].changes({ pollInterval: 50 })[Symbol.asyncIterator]();
      const next = changes.next();
      const { id } = await stores[0].collection(accounts).insert({ email: "a", balance: 1 });
      expect(Object((await next).value).id).toBe(id);
      await changes.return?.();
    });

    it("leaves no settings and no listeners on the connections of others", async () => {
      const { stores, server } = await openTwo();
      const changes = stores[0].changes({ pollInterval: 50 })[Symbol.asyncIterator]();
      const next = changes.next();
      await wait(100);
      await stores[0].collection(accounts).insert({ email: "a", balance: 1 });
      await next;
      if (mode === "session") return;
      const listening = "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
      expect(await runSql(server, listening)).toEqual([{ count: 0 }]);
      await changes.return?.();
    });
  },
);

describe.skipIf(noPostgres !== undefined)("prepare: false", () => {
  it("can be said, also of a server without a pooler, and must be true or false", async () => {
    const url = await newDatabase();
    const store = await openStore(url, { postgres: { prepare: false } });
    onTestFinished(() => store.close());
    const { id } = await store.collection(accounts).insert({ email: "a", balance: 1 });
    expect(await store.collection(accounts).get(id)).toMatchObject({ balance: 1 });
    const prepared = "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'SET standard%'";
    expect(await runSql(url, prepared)).toEqual([{ count: 0 }]);
    const postgres: unknown = { prepare: "no" };
    const result: unknown = Reflect.apply(openStore, undefined, [url, { postgres }]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
  });
});
