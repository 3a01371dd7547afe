import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createJobs, defineJob, jobCollections } from "../../src/jobs/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const collections = Object.values(jobCollections);
const note = defineJob<string>("note");

describe.each(enginesOfFile())("turns of jobs on %s", (_name, open) => {
  it.each([
    { turn: new Date(Number.NaN) },
    { turn: new Date(-1) },
    { turn: 5 as never },
    { turn: new Date(), delay: 5 },
    { turn: new Date(), at: new Date() },
  ])("%j is refused", async (options) => {
    const jobs = createJobs(await open({ collections }));
    onTestFinished(() => jobs.close());
    const code = "ERR_DOCUMENTS_OPTIONS";
    await expect(jobs.add(note, "a", options)).rejects.toMatchObject({ code });
    expect(await jobs.list()).toMatchObject({ items: [] });
  });

  it("jobs that wait run by their turns, which may lie ahead, and not by their adding", async () => {
    const store = await open({ collections });
    const jobs = createJobs(store, { pollInterval: 20 });
    onTestFinished(() => jobs.close());
    const now = Date.now();
    for (let index = 0; index < 3; index += 1) {
      await jobs.add(note, `many ${index}`, { turn: new Date(now + 60_000 * index) });
    }
    await store.transaction((transaction) =>
      jobs.add(note, "few", { turn: new Date(now + 1), transaction }),
    );
    const seen: string[] = [];
    jobs.work(note, (text) => void seen.push(text));
    await vi.waitFor(() => expect(seen.length).toBe(4));
    expect(seen).toEqual(["many 0", "few", "many 1", "many 2"]);
  });

  it("a worker is not part of a transaction that queues a job and lasts", async () => {
    const store = await open({ collections });
    const onError = vi.fn();
    const jobs = createJobs(store, { pollInterval: 20, onError });
    onTestFinished(() => jobs.close());
    const seen: string[] = [];
    jobs.work(note, (text) => void seen.push(text));
    await jobs.add(note, "before");
    await vi.waitFor(() => expect(seen).toEqual(["before"]));
    await store.transaction(async (transaction) => {
      await jobs.add(note, "in", { transaction });
      // The worker is told to look several times in this.
      await setTimeout(300);
    });
    await vi.waitFor(() => expect(seen).toEqual(["before", "in"]));
    expect(onError).not.toHaveBeenCalled();
  });
});
