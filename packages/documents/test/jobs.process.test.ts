import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore, type Store } from "../src/index.ts";
import { createJobs, type Jobs } from "../src/jobs/index.ts";
import { effect, effects, inOrder, jobsOfTest, slow } from "./jobs-of-test.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const roundCount = Number(
  process.env["FETCHWORK_KILL_ROUNDS"] ?? (process.env["CI"] === "true" ? 10 : 6),
);
const jobsPerRound = 300;
const workerFile = fileURLToPath(new URL("jobs-process.ts", import.meta.url));

async function startWorker(url: string, name: string, ahead = 0): Promise<ChildProcess> {
  const args = ["--conditions=@fetchwork/source", workerFile, url, name, String(ahead)];
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

  it("a job of a process that stands still has its effect once, by the one that takes it over", async () => {
    const { url, store, jobs } = await open();
    const first = await startWorker(url, "first");
    const id = await jobs.add(slow, 1);
    while ((await jobs.get(id))?.state !== "running") await wait(5);
    // Not inside of a transaction, which would keep the file from others.
    await wait(50);
    first.kill("SIGSTOP");
    await startWorker(url, "second");
    while ((await store.collection(effects).count()) === 0) await wait(20);
    first.kill("SIGCONT");
    // Longer than the rest of its handler.
    await wait(2500);
    expect(await store.collection(effects).find()).toMatchObject([{ job: id, by: "second" }]);
    expect((await jobs.get(id))?.state).toBe("done");
    // It goes on with other jobs.
    first.kill("SIGSTOP");
    first.kill("SIGCONT");
    await Promise.all([1, 2, 3].map((input) => jobs.add(slow, input)));
    while ((await store.collection(effects).count()) < 4) await wait(20);
    await wait(1000);
    expect(await store.collection(effects).count()).toBe(4);
  }, 60_000);

  it("each job and each time has its effect once, though clocks are an hour ahead and behind", async () => {
    const { url, store, jobs } = await open();
    const hour = 3_600_000;
    await Promise.all([
      startWorker(url, "ahead", hour),
      startWorker(url, "behind", -hour),
      startWorker(url, "right"),
    ]);
    const ids: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const some = Array.from({ length: 20 }, (_, index) => jobs.add(effect, index));
      ids.push(...(await Promise.all(some)));
      await wait(100);
    }
    await untilDone(jobs);
    const found = (await store.collection(effects).find()).map(({ job }) => job);
    const isTime = (job: string): boolean => job.startsWith("each-second@");
    expect(found.filter((job) => !isTime(job)).toSorted()).toEqual(ids.toSorted());
    const times = found.filter(isTime);
    expect(times.length).toBeGreaterThan(0);
    expect(new Set(times).size).toBe(times.length);
    expect((await jobs.list({ state: "dead" })).items).toEqual([]);
  }, 60_000);
});
