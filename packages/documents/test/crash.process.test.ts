import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openStore, type Store, type Stored } from "../src/index.ts";
import { type Acknowledged, ledger, type Member, members } from "./crash-collections.ts";
import { newDatabase } from "./open-for-test.ts";
import { checkIndexes, noPostgres, runSql } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const roundCount = Number(
  process.env["FETCHWORK_KILL_ROUNDS"] ?? (process.env["CI"] === "true" ? 30 : 10),
);
/**
 * After these many rounds a new store is begun, because checking takes as long as all that was
 * written.
 */
const roundsPerStore = 10;
/** So many stores are killed at a time, since a round waits for a process to start. */
const storesAtATime = 5;
const timePerRound = 10_000;
const writerFile = fileURLToPath(new URL("crash-writer.ts", import.meta.url));

/** Runs a writer, kills it after some acknowledgements, and returns all that it made. */
async function writeUntilKilled(url: string, round: number): Promise<readonly Acknowledged[]> {
  const args = ["--conditions=@fetchwork/source", writerFile, url, `r${round}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const enough = 1 + Math.floor(Math.random() * 600);
  const acknowledged: Acknowledged[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed: Acknowledged = JSON.parse(line);
    acknowledged.push(parsed);
    // It goes on writing until the signal arrives, so it dies anywhere in a batch.
    if (acknowledged.length === enough) child.kill("SIGKILL");
  }
  expect((await exit)[1]).toBe("SIGKILL");
  return acknowledged;
}

/** Makes the members of nothing but the feed of changes. */
async function replay(store: Store): Promise<readonly Stored<Member>[]> {
  const seen = new Map<string, Stored<Member>>();
  for await (const change of store.changes({ atEnd: "end", collections: [members.name] })) {
    const { id, kind, version, at } = change;
    const before = seen.get(id);
    if (kind === "remove") {
      expect(version).toBe(before?.version);
      seen.delete(id);
      continue;
    }
    expect(version).toBe((before?.version ?? 0) + 1);
    const createdAt = before?.createdAt ?? at;
    // The text of a stored member, which is what the feed holds.
    const fields = change.document as unknown as Member;
    seen.set(id, { id, version, createdAt, updatedAt: at, ...fields });
  }
  return [...seen.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** A store that is killed, and the check of its files. */
interface Crashing {
  readonly newUrl: () => Promise<string>;
  /** Waits until nothing of the process that was killed works on. */
  readonly settled: (url: string) => Promise<void>;
  readonly checkFiles: (url: string) => Promise<void>;
}

const sqliteEngine: Crashing = {
  newUrl: () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`),
  settled: () => Promise.resolve(),
  checkFiles: (url) => {
    const database = new DatabaseSync(url.slice("sqlite:".length));
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.exec(
      `INSERT INTO "members:search" ("members:search", rank) VALUES ('integrity-check', 1)`,
    );
    database.close();
    return Promise.resolve();
  },
};

const postgresEngine: Crashing = {
  newUrl: async () => {
    const url = await newDatabase();
    await runSql(url, "CREATE EXTENSION IF NOT EXISTS amcheck");
    return url;
  },
  // The server goes on with the statement that it was given last, and then finds nobody there.
  settled: async (url) => {
    await expect.poll(() => runSql(url, backends), { timeout: 10_000 }).toEqual([]);
  },
  checkFiles: async (url) => {
    const checked = await runSql(url, checkIndexes);
    expect(checked.length).toBeGreaterThan(5);
  },
};

const backends =
  "SELECT pid FROM pg_stat_activity " +
  "WHERE datname = current_database() AND application_name = 'fetchwork'";

it.each([
  ["SQLite", sqliteEngine] as const,
  ...(noPostgres === undefined ? [["PostgreSQL", postgresEngine] as const] : []),
])(
  "a store keeps every acknowledged change of %s when the process is killed, and nothing by halves",
  { timeout: roundCount * timePerRound },
  async (_engine, { newUrl, settled, checkFiles }) => {
    let left = roundCount;
    const outcomes = await Promise.allSettled(
      Array.from({ length: storesAtATime }, async () => {
        while (left > 0) {
          const rounds = Math.min(left, roundsPerStore);
          left -= rounds;
          await crash(rounds);
        }
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;

    async function crash(rounds: number): Promise<void> {
      const url = await newUrl();
      const versions = new Map<string, { readonly email: string; readonly version: number }>();
      const removing = new Set<string>();
      const removed = new Set<string>();
      const pairs = new Set<string>();
      for (let round = 0; round < rounds; round += 1) {
        for (const line of await writeUntilKilled(url, round)) {
          if (line.kind === "pair") pairs.add(line.pair);
          else if (line.kind === "removing") removing.add(line.id);
          else if (line.kind === "removed") removed.add(line.id);
          else versions.set(line.id, { email: line.email, version: line.version });
        }
        await settled(url);
        await check();
      }
      expect(versions.size).toBeGreaterThan(rounds);

      async function check(): Promise<void> {
        const store = await openStore(url, { collections: [members, ledger] });
        const all = await store.collection(members).find({ sort: ["id"] });
        const byId = new Map(all.map((member) => [member.id, member]));
        for (const [id, { email, version }] of versions) {
          const found = byId.get(id);
          if (removed.has(id)) expect(found).toBeUndefined();
          else if (!removing.has(id) || found !== undefined) {
            expect(found).toMatchObject({ email });
            expect(found?.version).toBeGreaterThanOrEqual(version);
          }
        }
        for (const member of all) expect(member.changes).toBe(member.version);
        expect(new Set(all.map(({ email }) => email)).size).toBe(all.length);
        expect(await store.collection(members).count()).toBe(all.length);
        expect(await store.collection(members).count({ where: {} })).toBe(all.length);
        expect(await store.collection(members).count({ q: "r" })).toBe(all.length);

        expect(await replay(store)).toEqual(all);

        const entries = (await store.collection(ledger).find()).map(({ pair }) => pair);
        const halves = all.flatMap(({ pair }) => pair ?? []);
        expect(entries.toSorted()).toEqual(halves.toSorted());
        const entered = new Set(entries);
        expect([...pairs].filter((pair) => !entered.has(pair))).toEqual([]);
        expect(await store.collection(ledger).count()).toBe(entries.length);
        await store.close();

        await checkFiles(url);
      }
    }
  },
);
