import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, DocumentsError, openStore } from "../src/index.ts";
import {
  kill,
  NO_POSTGRES,
  type PostgresServer,
  program,
  runPostgres,
  runSql,
  startPostgres,
  unprivilegedUser,
} from "./postgres-server.ts";

interface Entry {
  writer: number;
  turn: number;
}

const entries = defineCollection<Entry>("entries", {
  unique: [["writer", "turn"]],
  changes: "ids",
});

const ROUNDS = Number(process.env["FETCHWORK_FAILOVER_ROUNDS"] ?? 1);
const WRITERS = 8;
const BEFORE = 300;
const AFTER = 100;

describe.skipIf(NO_POSTGRES !== undefined)("A failover of PostgreSQL", () => {
  it.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
    "loses no acknowledged change when the primary is killed, round %d",
    { timeout: 60_000 },
    async () => {
      const cluster = await startCluster();
      const store = await openStore(
        `postgres://postgres@127.0.0.1:${cluster.ports.join(",127.0.0.1:")}/postgres`,
        { collections: [entries] },
      );
      onTestFinished(() => store.close());
      const collection = store.collection(entries);
      const acknowledged = new Map<string, Entry>();
      const unknown = new Set<string>();
      const reached = Promise.withResolvers<undefined>();
      let goal = BEFORE;
      let isOver = false;
      const write = async (writer: number): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          try {
            const { id } = await collection.insert({ writer, turn });
            acknowledged.set(id, { writer, turn });
          } catch (error) {
            // Whether the change was made is unknown, and nothing else may have happened.
            if (!(error instanceof DocumentsError)) throw error;
            expect(error.code).toBe("ERR_DOCUMENTS_CONNECTION");
            unknown.add(`${writer}:${turn}`);
          }
          if (acknowledged.size >= goal) reached.resolve(undefined);
          if (acknowledged.size >= goal + AFTER && goal > BEFORE) isOver = true;
        }
      };
      const writing = Promise.all(Array.from({ length: WRITERS }, (_, index) => write(index)));
      await reached.promise;
      await kill(cluster.primary.process);
      goal = acknowledged.size + 1;
      execFileSync(
        program("pg_ctl"),
        ["promote", "-w", "-D", join(cluster.standby.folder, "data")],
        {
          ...unprivilegedUser(),
          stdio: "ignore",
        },
      );
      await writing;

      const stored = await collection.find();
      const storedById = new Map(stored.map((entry) => [entry.id, entry]));
      for (const [id, entry] of acknowledged) expect(storedById.get(id)).toMatchObject(entry);
      const strangers = stored.filter(
        ({ id, writer, turn }) => !acknowledged.has(id) && !unknown.has(`${writer}:${turn}`),
      );
      expect(strangers).toEqual([]);
      const fed: string[] = [];
      for await (const { id } of store.changes({ atEnd: "end" })) fed.push(id);
      expect(fed.toSorted()).toEqual([...storedById.keys()].toSorted());
    },
  );
});

interface Cluster {
  readonly ports: readonly [primary: number, standby: number];
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

/** Starts a primary whose commits wait for its standby. */
async function startCluster(): Promise<Cluster> {
  const ports = [await freePort(), await freePort()] as const;
  const primary = await startPostgres(settings(ports[0]));
  onTestFinished(() => primary.stop());
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const source = ["-h", "127.0.0.1", "-p", String(ports[0]), "-U", "postgres"];
  const target = ["-D", join(folder, "data"), "-R", "-X", "stream", "-c", "fast"];
  execFileSync(program("pg_basebackup"), [...source, ...target], { ...owner, stdio: "ignore" });
  const standby = await runPostgres(folder, settings(ports[1]));
  onTestFinished(async () => {
    await standby.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = primary.url("postgres");
  await runSql(url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runSql(url, "SELECT pg_reload_conf()");
  await expect
    .poll(() => runSql(url, "SELECT sync_state FROM pg_stat_replication"), { timeout: 10_000 })
    .toEqual([{ sync_state: "sync" }]);
  // The standby, once promoted, has none of its own to wait for.
  return { ports, primary, standby };
}

function settings(port: number): readonly string[] {
  return ["listen_addresses=127.0.0.1", `port=${port}`, "synchronous_commit=on"];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address === "string" || address === null) throw new Error("no port");
  const { port }: AddressInfo = address;
  return port;
}
