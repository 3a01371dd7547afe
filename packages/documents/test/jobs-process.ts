// Works on the jobs of the store of argv[2] until it is killed; argv[3] names the process, and
// argv[4] says by how many milliseconds its clock is ahead.
import { setTimeout as wait } from "node:timers/promises";
import { openStore } from "../src/index.ts";
import { createJobs } from "../src/jobs/index.ts";
import { effect, effects, inOrder, jobsOfTest, scheduled, slow } from "./jobs-of-test.ts";

const [, , url = "", name = "", ahead = "0"] = process.argv;
setClock(Number(ahead));
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
jobs.work(slow, async (input, { id, complete }) => {
  await wait(2000);
  await complete((transaction) =>
    transaction.collection(effects).insert({ job: id, input, by: name }),
  );
});
jobs.work(scheduled, async (input, { id, complete }) => {
  await complete((transaction) =>
    transaction.collection(effects).insert({ job: id, input, by: name }),
  );
});
if (ahead !== "0") await jobs.schedule("each-second", scheduled, { cron: "* * * * * *", input: 1 });
process.stdout.write("ready\n");

/** Sets the clock of this process ahead, or back. */
function setClock(milliseconds: number): void {
  if (milliseconds === 0) return;
  const clock = Date.now.bind(Date);
  globalThis.Date = new Proxy(Date, {
    construct: (target, given: unknown[]) =>
      Reflect.construct(target, given.length === 0 ? [clock() + milliseconds] : given),
    get: (target, key) => (key === "now" ? () => clock() + milliseconds : Reflect.get(target, key)),
  });
}
