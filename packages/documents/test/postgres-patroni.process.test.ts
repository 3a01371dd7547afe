import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, DocumentsError, openStore } from "../src/index.ts";
import { noPatroni, startPatroniCluster } from "./patroni-cluster.ts";
import { runSql } from "./postgres-server.ts";

interface Entry {
  writer: number;
  turn: number;
}

const entries = defineCollection<Entry>("entries", {
  unique: [["writer", "turn"]],
  changes: "ids",
});

/** A kill takes 10 to 20 seconds until the server has joined again. */
const killCount = Number(process.env["FETCHWORK_PATRONI_KILLS"] ?? 2);
const writers = 8;

describe.skipIf(noPatroni !== undefined)("A failover by Patroni", () => {
  it(
    "loses no acknowledged change when the primary is killed again and again",
    { timeout: 60_000 + killCount * 60_000 },
    async () => {
      const cluster = await startPatroniCluster();
      await cluster.complete();
      const hosts = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
      const store = await openStore(`postgres://postgres@${hosts}/postgres`, {
        collections: [entries],
      });
      onTestFinished(() => store.close());
      const collection = store.collection(entries);
      const acknowledged = new Map<string, Entry>();
      const unknown = new Set<string>();
      /** When the newest change was sent that is acknowledged. */
      let newest = 0;
      let isOver = false;
      const write = async (writer: number): Promise<void> => {
        for (let turn = 0; !isOver; turn += 1) {
          const sent = performance.now();
          try {
            const { id } = await collection.insert({ writer, turn });
            acknowledged.set(id, { writer, turn });
            newest = Math.max(newest, sent);
          } catch (error) {
            // Whether the change was made is unknown, and nothing else may have happened.
            if (!(error instanceof DocumentsError)) throw error;
            expect(error.code).toBe("ERR_DOCUMENTS_CONNECTION");
            unknown.add(nameOf({ writer, turn }));
          }
          await delay(10);
        }
      };
      const writing = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
      // It is awaited below; until then a failure must not end the process.
      writing.catch(() => undefined);
      onTestFinished(() => {
        isOver = true;
      });

      const pauses: number[] = [];
      for (let count = 0; count < killCount; count += 1) {
        const primary = await cluster.complete();
        // The signal comes anywhere in a change.
        await delay(500 + Math.random() * 500);
        primary.kill();
        const killed = performance.now();
        await expect.poll(() => newest, { timeout: 30_000, interval: 20 }).toBeGreaterThan(killed);
        pauses.push((performance.now() - killed) / 1000);
        primary.start();
        expect(await cluster.complete()).not.toBe(primary);
      }
      isOver = true;
      await writing;
      const seconds = pauses.map((pause) => pause.toFixed(1)).join(", ");
      console.info(`${acknowledged.size} changes; seconds until writes went on: ${seconds}`);

      const stored = await collection.find();
      const storedById = new Map(stored.map((entry) => [entry.id, entry]));
      for (const [id, entry] of acknowledged) expect(storedById.get(id)).toMatchObject(entry);
      const strangers = stored.filter(
        (entry) => !acknowledged.has(entry.id) && !unknown.has(nameOf(entry)),
      );
      expect(strangers).toEqual([]);
      expect(new Set(stored.map(nameOf)).size).toBe(stored.length);
      const fed: string[] = [];
      for await (const { id } of store.changes({ atEnd: "end" })) fed.push(id);
      expect(fed.toSorted()).toEqual([...storedById.keys()].toSorted());
      const counted = [{ count: String(stored.length) }];
      for (const node of cluster.nodes) {
        const count = (): Promise<unknown> =>
          runSql(node.url("postgres"), "SELECT count(*) FROM entries");
        await expect.poll(count).toEqual(counted);
      }
    },
  );
});

function nameOf({ writer, turn }: Entry): string {
  return `${writer}:${turn}`;
}
