import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { createJobs, defineJob, jobCollections } from "@fetchwork/documents/jobs";
import { expect } from "../platform.ts";

const note = defineJob<string>("note", { key: () => "one", backoff: { baseDelay: 1 } });

/** Runs jobs of a key, of which one fails once and one is queued by a schedule. */
export async function smoke(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  const collections = Object.values(jobCollections);
  try {
    const store = await openStore(`sqlite:${join(folder, "a.db")}`, { collections });
    const jobs = createJobs(store);
    const seen: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    await store.transaction((transaction) => jobs.add(note, "one", { transaction }));
    await jobs.add(note, "two");
    jobs.work(note, (text, { attempt }) => {
      if (text === "one" && attempt === 1) throw new Error("again");
      seen.push(text);
      if (seen.length === 3) resolve();
    });
    await jobs.schedule("each-second", note, { cron: "* * * * * *", input: "scheduled" });
    await promise;
    await jobs.unschedule("each-second");
    await jobs.close();
    await store.close();
    expect("the jobs", seen.slice(0, 3), ["one", "two", "scheduled"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
