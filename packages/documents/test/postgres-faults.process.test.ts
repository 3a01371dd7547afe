import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore, type Store } from "../src/index.ts";
import { makeDisk, writeUntilRefused } from "./disk.ts";
import { noDiskReason, resizeDisk } from "./mount-disk.ts";
import { newDatabase } from "./open-for-test.ts";
import {
  kill,
  noPostgres,
  type PostgresServer,
  runPostgres,
  runSql,
  startPostgres,
} from "./postgres-server.ts";
import { counters } from "./process-collections.ts";

const mebibyte = 1024 * 1024;
async function namesIn(store: Store): Promise<readonly string[]> {
  return (await store.collection(counters).find()).map(({ name }) => name);
}

describe.skipIf(noPostgres !== undefined || noDiskReason !== undefined)(
  "A full disk of PostgreSQL",
  () => {
    it("rejects what does not fit next to the tables, and loses nothing", async () => {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      const disk = makeDisk(16 * mebibyte);
      await runSql(server.url("postgres"), `CREATE TABLESPACE small LOCATION '${disk}'`);
      await runSql(server.url("postgres"), "CREATE DATABASE small TABLESPACE small");
      const store = await openStore(server.url("small"), { collections: [counters] });
      onTestFinished(() => store.close());
      const { error, names } = await writeUntilRefused(store);
      expect(error).toMatchObject({
        code: "ERR_DOCUMENTS_FULL",
        message: expect.stringMatching(/No space left on device \(SQLSTATE 53100\)$/),
        cause: { code: "53100" },
      });
      expect(String(error)).not.toContain(names.at(-1)?.slice(0, 20));
      expect(names.length).toBeGreaterThan(100);
      const many = Array.from({ length: 500 }, (_, index) => ({
        name: `many ${index} ${randomBytes(3000).toString("base64")}`,
        value: 2,
      }));
      const both = [
        store.collection(counters).insertMany(many),
        store.transaction((tx) => tx.collection(counters).insertMany(many)),
      ];
      for (const outcome of await Promise.allSettled(both)) {
        expect(outcome).toMatchObject({ reason: { code: "ERR_DOCUMENTS_FULL" } });
      }
      expect((await namesIn(store)).toSorted()).toEqual(names.toSorted());
      expect(await store.collection(counters).count()).toBe(names.length);
      // With room there again it goes on, without being opened again.
      resizeDisk(disk, 64 * mebibyte);
      await store.collection(counters).insertMany(many);
      expect(await store.collection(counters).count()).toBe(names.length + many.length);
    }, 60_000);

    it("stops the server when it is that of its log, and what was acknowledged is there after", async () => {
      const disk = makeDisk(256 * mebibyte);
      const server = await startOn(disk);
      const url = await server.create();
      const store = await openStore(url, {
        collections: [counters],
        postgres: { failoverTimeout: 2000 },
      });
      onTestFinished(() => store.close());
      const ballast = join(disk, "ballast");
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize - 4 * mebibyte));
      const { error, names } = await writeUntilRefused(store);
      const { code } = Object(error);
      expect(["ERR_DOCUMENTS_CONNECTION", "ERR_DOCUMENTS_FULL", "ERR_DOCUMENTS_ENGINE"]).toContain(
        code,
      );
      expect(names.length).toBeGreaterThan(100);
      await kill(server.process);
      rmSync(ballast);
      const again = await runPostgres(server.folder, []);
      onTestFinished(() => kill(again.process));
      const found = new Set(await namesIn(store));
      expect(names.filter((name) => !found.has(name))).toEqual([]);
      // The one that failed may have been made.
      expect(found.size - names.length).toBeLessThanOrEqual(1);
      await store.collection(counters).insert({ name: "after", value: 3 });
    }, 120_000);
  },
);

/** Starts a server that keeps what it acknowledged, all of it on one disk. */
async function startOn(disk: string): Promise<PostgresServer> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = disk;
  try {
    const server = await startPostgres([]);
    onTestFinished(() => kill(server.process));
    return server;
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

describe.skipIf(noPostgres !== undefined)("A PostgreSQL that cannot be written", () => {
  async function makeStore(): Promise<{ readonly url: string; readonly store: Store }> {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [counters] });
    onTestFinished(() => store.close());
    await store.collection(counters).insert({ name: "kept", value: 1 });
    return { url, store };
  }

  it("can be read but not changed by a user who may only read", async () => {
    const { url, store } = await makeStore();
    await runSql(
      url,
      "CREATE ROLE looker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker",
    );
    const looking = await openStore(url.replace("postgres@", "looker@"), {
      collections: [counters],
    });
    const collection = looking.collection(counters);
    expect(await collection.find()).toMatchObject([{ name: "kept" }]);
    const changes = [
      collection.insert({ name: "new", value: 2 }),
      looking.transaction((tx) => tx.collection(counters).insert({ name: "new", value: 2 })),
      collection.removeMany({ where: { name: "kept" } }),
    ];
    for (const outcome of await Promise.allSettled(changes)) {
      expect(outcome).toMatchObject({
        reason: {
          code: "ERR_DOCUMENTS_ENGINE",
          message: "PostgreSQL failed: permission denied for table counters (SQLSTATE 42501)",
        },
      });
    }
    await looking.close();
    expect(await namesIn(store)).toEqual(["kept"]);
    await runSql(url, "DROP OWNED BY looker; DROP ROLE looker");
  });

  it("is said to be read-only when all its transactions are", async () => {
    const { url, store } = await makeStore();
    await store.close();
    const name = /\/(\w+)\?/.exec(url)?.[1] ?? "";
    await runSql(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await expect(
      openStore(url, { collections: [counters], postgres: { failoverTimeout: 200 } }),
    ).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CONNECTION",
      message:
        "PostgreSQL cannot be reached, or none of its servers accepts changes: " +
        "the server is a standby, or its transactions are read-only",
      cause: { message: "the server is a standby, or its transactions are read-only" },
    });
    const admin = url.replace(`/${name}?`, "/postgres?");
    await runSql(admin, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
    const again = await openStore(url, { collections: [counters] });
    expect(await namesIn(again)).toEqual(["kept"]);
    await again.close();
  });

  it("says so when the folder of the socket, or of the database, is missing", async () => {
    const postgres = { failoverTimeout: 200 };
    await expect(
      openStore("postgres://postgres:secret@:5432/a?host=/nowhere/at/all", { postgres }),
    ).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CONNECTION",
      message: expect.not.stringContaining("secret"),
      cause: { code: "ENOENT" },
    });

    const { url, store } = await makeStore();
    await store.close();
    const folder = `${/\?host=(.*)$/.exec(url)?.[1]}/data/base`;
    const [row] = await runSql(
      url,
      "SELECT oid::text FROM pg_database WHERE datname = current_database()",
    );
    const { oid } = Object(row);
    expect(readdirSync(folder)).toContain(oid);
    renameSync(join(folder, oid), join(folder, "elsewhere"));
    await expect(openStore(url, { collections: [counters], postgres })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CONNECTION",
      message: "PostgreSQL refused the connection: the database does not exist (SQLSTATE 3D000)",
      cause: { code: "3D000" },
    });
    renameSync(join(folder, "elsewhere"), join(folder, oid));
    const again = await openStore(url, { collections: [counters] });
    expect(await namesIn(again)).toEqual(["kept"]);
    await again.close();
  });
});
