// Works on the jobs of the store of argv[2] until it is killed; argv[3] names the process.
import { setTimeout as wait } from "node:timers/promises";
import { openStore } from "../src/index.ts";
import { createJobs } from "../src/jobs/index.ts";
import { effect, effects, inOrder, jobsOfTest } from "./jobs-of-test.ts";

const [, , url = "", name = ""] = process.argv;
const store = await openStore(url, { collections: jobsOfTest, busyTimeout: 15_000 });
const jobs = createJobs(store, { lease: 1000, pollInterval: 20 });
jobs.work(effect, async (input, { id, complete }) => {
  await complete((transaction) =>
    transaction.collection(effects).insert({ job: id, input, by: name }),
  );
});
jobs.work(inOrder, async ({ key, place }, { complete }) => {
  const id = `${key}.${place}`;
  await wait(2 + Math.random() * 15);
  await complete((transaction) =>
    transaction.collection(effects).insert({ job: id, input: place, by: name }),
  );
});
process.stdout.write("ready\n");
