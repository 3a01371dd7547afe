import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, DocumentsError, openStore } from "../src/index.ts";
import { startCluster } from "./postgres-cluster.ts";
import {
  checkIndexes,
  kill,
  noPostgres,
  program,
  runSql,
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

/** The other half of each transaction. */
const halves = defineCollection<Entry>("halves", { unique: [["writer", "turn"]] });

/** A round makes and fills two servers, which takes 2 to 3 seconds: 100 take 5 minutes. */
const roundCount = Number(
  process.env["FETCHWORK_FAILOVER_ROUNDS"] ?? (process.env["CI"] === "true" ? 8 : 2),
);
/** Which turns are a transaction over two collections. */
const pairSize = 4;
const writers = 8;
const countBefore = 200;
const countUntil = 300;
const countAfter = 100;

describe.skipIf(noPostgres !== undefined)("A failover of PostgreSQL", () => {
  it.each(Array.from({ length: roundCount }, (_, index) => index + 1))(
    "loses no acknowledged change when the primary is killed, round %d",
    { timeout: 60_000 },
    async () => {
      const cluster = await startCluster();
      const store = await openStore(
        `postgres://postgres@127.0.0.1:${cluster.ports.join(",127.0.0.1:")}/postgres`,
        { collections: [entries, halves] },
      );
      onTestFinished(() => store.close());
      const collection = store.collection(entries);
      const acknowledged = new Map<string, Entry>();
      const unknown = new Set<string>();
      const reached = Promise.withResolvers<undefined>();
      // The others go on writing until the signal arrives, so it comes anywhere in a change.
      const first = countBefore + Math.floor(Math.random() * (countUntil - countBefore));
      let goal = first;
      let isOver = false;
      const write = async (writer: number): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          try {
            const entry = { writer, turn };
            const { id } = await (turn % pairSize === 0
              ? store.transaction(async (tx) => {
                  await tx.collection(halves).insert(entry);
                  return tx.collection(entries).insert(entry);
                })
              : collection.insert(entry));
            acknowledged.set(id, entry);
          } catch (error) {
            // Whether the change was made is unknown, and nothing else may have happened.
            if (!(error instanceof DocumentsError)) throw error;
            expect(error.code).toBe("ERR_DOCUMENTS_CONNECTION");
            unknown.add(`${writer}:${turn}`);
          }
          if (acknowledged.size >= goal) reached.resolve(undefined);
          if (acknowledged.size >= goal + countAfter && goal > first) isOver = true;
        }
      };
      const writing = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
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
      const paired = await store.collection(halves).find();
      const wanted = stored.filter(({ turn }) => turn % pairSize === 0).map(nameOf);
      expect(paired.map(nameOf).toSorted()).toEqual(wanted.toSorted());
      expect(new Set(stored.map(nameOf)).size).toBe(stored.length);
      await expect(collection.insert({ writer: 0, turn: 0 })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_UNIQUE",
      });
      const standby = cluster.standby.url("postgres");
      await runSql(standby, "CREATE EXTENSION amcheck");
      expect((await runSql(standby, checkIndexes)).length).toBeGreaterThan(5);
      const fed: string[] = [];
      for await (const { id } of store.changes({ atEnd: "end" })) fed.push(id);
      expect(fed.toSorted()).toEqual([...storedById.keys()].toSorted());
    },
  );
});

function nameOf({ writer, turn }: Entry): string {
  return `${writer}:${turn}`;
}
