import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore, type Store } from "../src/index.ts";
import { createJobs, type Jobs } from "../src/jobs/index.ts";
import { effect, effects, inOrder, jobsOfTest } from "./jobs-of-test.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const roundCount = Number(
  process.env["FETCHWORK_KILL_ROUNDS"] ?? (process.env["CI"] === "true" ? 30 : 6),
);
const jobsPerRound = 300;
const workerFile = fileURLToPath(new URL("jobs-process.ts", import.meta.url));

async function startWorker(url: string, name: string): Promise<ChildProcess> {
  const args = ["--conditions=@fetchwork/source", workerFile, url, name];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function untilDone(jobs: Jobs): Promise<void> {
  for (const state of ["waiting", "blocked", "delayed"] as const) {
    while ((await jobs.list({ state, limit: 1 })).items.length > 0) await wait(20);
  }
}

describe.each([
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)] as const,
  ...(noPostgres === undefined ? [["PostgreSQL", () => newDatabase()] as const] : []),
])("jobs of several processes on %s", (_engine, newUrl) => {
  async function open(): Promise<{ url: string; store: Store; jobs: Jobs }> {
    const url = await newUrl();
    const store = await openStore(url, { collections: jobsOfTest, busyTimeout: 15_000 });
    onTestFinished(() => store.close());
    return { url, store, jobs: createJobs(store) };
  }

  it(
    "each job has its effect once, and none is lost, however often processes are killed",
    { timeout: roundCount * 10_000 + 60_000 },
    async () => {
      const { url, store, jobs } = await open();
      const added: string[] = [];
      for (let round = 0; round < roundCount; round += 1) {
        const [first, second] = await Promise.all([
          startWorker(url, `${round}a`),
          startWorker(url, `${round}b`),
        ]);
        const adding = Array.from({ length: jobsPerRound }, (_, index) => jobs.add(effect, index));
        await wait(Math.random() * 60);
        await kill(first);
        await wait(Math.random() * 60);
        await kill(second);
        added.push(...(await Promise.all(adding)));
      }
      const last = await startWorker(url, "last");
      await untilDone(jobs);
      await kill(last);
      const found = await store.collection(effects).find();
      expect(found.map(({ job }) => job).toSorted()).toEqual(added.toSorted());
      expect((await jobs.list({ state: "dead" })).items).toEqual([]);
      expect(new Set(found.map(({ by }) => by)).size).toBeGreaterThan(1);
    },
  );

  it("jobs of a key stay in their order in two processes, of which one is killed", async () => {
    const { url, store, jobs } = await open();
    const keys = ["a", "b", "c", "d"];
    const [first] = await Promise.all([startWorker(url, "first"), startWorker(url, "second")]);
    for (let place = 0; place < 25; place += 1) {
      await Promise.all(keys.map((key) => jobs.add(inOrder, { key, place })));
    }
    const byFirst = { where: { by: "first" } };
    while ((await store.collection(effects).count(byFirst)) < 5) await wait(5);
    await kill(first);
    await untilDone(jobs);
    const found = await store.collection(effects).find({ sort: ["createdAt", "id"] });
    for (const key of keys) {
      const own = found.filter(({ job }) => job.startsWith(`${key}.`));
      expect(own.map(({ input }) => input)).toEqual(Array.from({ length: 25 }, (_, at) => at));
    }
    expect(found.some(({ by }) => by === "second")).toBe(true);
  });
});
