import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Store } from "../../src/index.ts";
import {
  createJobs,
  defineJob,
  jobCollections,
  type Jobs,
  type JobFailure,
  type JobsOptions,
} from "../../src/jobs/index.ts";
import { Finisher } from "../../src/jobs/finisher.ts";
import { tablesOf } from "../../src/jobs/job-record.ts";
import { purgeEnded } from "../../src/jobs/purge.ts";
import { enginesOfFile } from "../open-for-test.ts";

const collections = Object.values(jobCollections);
const quick = { baseDelay: 1, maxDelay: 2 } as const;

function openJobs(store: Store, options: JobsOptions = {}): Jobs {
  const jobs = createJobs(store, { pollInterval: 20, ...options });
  onTestFinished(() => jobs.close({ grace: 0 }));
  return jobs;
}

/**
 * Takes a job and loses its lease, as a process does that stands still; returns what writes that it
 * is done.
 */
async function lateEnd(
  store: Store,
  id: string,
): Promise<(options: { readonly keep: number }) => Promise<string>> {
  const [lease] = await tablesOf(store).jobs.claim({ where: { id }, expiry: 1 });
  if (lease === undefined) throw new Error("the job cannot be claimed");
  await wait(20);
  const finisher = new Finisher(store, () => undefined);
  const ended = { lease, startedAt: Date.now(), outcome: { kind: "done", result: 1 } } as const;
  const { signal } = new AbortController();
  return ({ keep }) =>
    finisher.finish(ended, { keep, keepDead: 0, retries: 0, backoff: {} }, signal);
}

async function untilState(jobs: Jobs, id: string, state: string): Promise<void> {
  await vi.waitFor(async () => expect((await jobs.get(id))?.state).toBe(state), {
    timeout: 10_000,
    interval: 5,
  });
}

describe.each(enginesOfFile())("jobs on %s", (_name, open, openNew) => {
  it("a job runs once with its input, and its result is kept", async () => {
    const jobs = openJobs(await open({ collections }));
    const add = defineJob<{ one: number; other: number }>("add");
    const runs: unknown[] = [];
    jobs.work(add, ({ one, other }, { id, attempt }) => {
      runs.push([id, attempt]);
      return one + other;
    });
    const id = await jobs.add(add, { one: 1, other: 2 });
    await untilState(jobs, id, "done");
    expect(await jobs.get(id)).toMatchObject({ job: "add", result: 3, failures: 0 });
    expect(runs).toEqual([[id, 1]]);
  });

  it("a job of a transaction that is undone never runs, one of a committed transaction does", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const note = defineJob<string>("note");
    const seen: string[] = [];
    jobs.work(note, (text) => void seen.push(text));
    const undone = store.transaction(async (transaction) => {
      await jobs.add(note, "undone", { transaction });
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow("no");
    await store.transaction((transaction) => jobs.add(note, "kept", { transaction }));
    await vi.waitFor(() => expect(seen).toEqual(["kept"]), { timeout: 5000 });
  });

  it("a job with an id is queued once, and the id of another kind is taken", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const note = defineJob<string>("note");
    const other = defineJob<string>("other");
    expect(await jobs.add(note, "a", { id: "n@1" })).toBe("n@1");
    expect(await jobs.add(note, "b", { id: "n@1" })).toBe("n@1");
    await store.transaction((transaction) => jobs.add(note, "c", { id: "n@1", transaction }));
    expect(await jobs.list({ state: "waiting" })).toMatchObject({ items: [{ input: "a" }] });
    await expect(jobs.add(other, "d", { id: "n@1" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_UNIQUE",
    });
  });

  it("a job with an id and a new key is queued once by callers at the same time", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const keyed = defineJob<number>("keyed", { key: () => "k" });
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, input) => jobs.add(keyed, input, { id: "a" })),
    );
    expect(new Set(ids)).toEqual(new Set(["a"]));
    expect(await store.collection(jobCollections.jobs).count()).toBe(1);
  });

  it("an attempt that ends after its lease changes no job that was cancelled since", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const id = await jobs.add(defineJob<string>("note"), "a");
    const end = await lateEnd(store, id);
    expect(await jobs.cancel(id)).toBe(true);
    expect(await end({ keep: 60_000 })).toBe("lost");
    expect((await jobs.get(id))?.state).toBe("cancelled");
  });

  it("an attempt that ends after its lease does not end a later job of the same id", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const note = defineJob<string>("note", { keep: 0 });
    await jobs.add(note, "first", { id: "a" });
    const end = await lateEnd(store, "a");
    // As another process leaves it that took the job over.
    await store.collection(jobCollections.jobs).remove("a");
    await jobs.add(note, "second", { id: "a" });
    expect(await end({ keep: 0 })).toBe("lost");
    expect((await jobs.get("a"))?.input).toBe("second");
  });

  it("jobs run in the order of adding", async () => {
    const jobs = openJobs(await open({ collections }));
    const note = defineJob<string>("note");
    for (const text of ["one", "two", "three"]) await jobs.add(note, text);
    const seen: string[] = [];
    jobs.work(note, (text) => void seen.push(text));
    await vi.waitFor(() => expect(seen).toEqual(["one", "two", "three"]), { timeout: 5000 });
  });

  it("a job waits for its time", async () => {
    const jobs = openJobs(await open({ collections }), { pollInterval: 5000 });
    const note = defineJob<string>("note");
    const seen: string[] = [];
    jobs.work(note, (text) => void seen.push(text));
    const id = await jobs.add(note, "later", { delay: 150 });
    await jobs.add(note, "now");
    expect(await jobs.get(id)).toMatchObject({ state: "delayed" });
    await vi.waitFor(() => expect(seen).toEqual(["now", "later"]), { timeout: 4000 });
  });

  it("a job that fails is tried again, then dead, and may be queued once more", async () => {
    const failures: (JobFailure | undefined)[] = [];
    const jobs = openJobs(await open({ collections }), {
      onError: (_error, failure) => failures.push(failure),
    });
    const fail = defineJob<string>("fail", { retries: 2, backoff: quick });
    let isFixed = false;
    const attempts: number[] = [];
    jobs.work(fail, (text, { attempt }) => {
      attempts.push(attempt);
      if (!isFixed) throw new RangeError(`no ${text}`);
      return text;
    });
    const id = await jobs.add(fail, "x");
    await untilState(jobs, id, "dead");
    expect(await jobs.get(id)).toMatchObject({
      failures: 3,
      error: { name: "RangeError", message: "no x" },
    });
    expect(attempts).toEqual([1, 2, 3]);
    expect(failures.map((failure) => failure?.isDead)).toEqual([false, false, true]);
    expect((await jobs.list({ state: "dead", job: "fail" })).items).toHaveLength(1);
    isFixed = true;
    expect(await jobs.retry(id)).toBe(true);
    await untilState(jobs, id, "done");
    expect(await jobs.retry(id)).toBe(false);
    expect(await jobs.get(id)).toMatchObject({ failures: 0, error: undefined, result: "x" });
  });

  it("a job whose error is final is not tried again", async () => {
    const jobs = openJobs(await open({ collections }));
    const fail = defineJob<string>("fail", { retryIf: (error) => error !== undefined });
    jobs.work(fail, () => {
      // What a handler of a user may do.
      // oxlint-disable-next-line typescript/only-throw-error
      throw undefined;
    });
    const id = await jobs.add(fail, "x");
    await untilState(jobs, id, "dead");
    expect(await jobs.get(id)).toMatchObject({
      error: { name: "undefined", message: "undefined" },
    });
  });

  it("a handler that never ends and ignores its signal fails after its timeout", async () => {
    const jobs = openJobs(await open({ collections }));
    const hang = defineJob<string>("hang", { timeout: 30, retries: 1, backoff: quick });
    const signals: AbortSignal[] = [];
    jobs.work(hang, (_input, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const id = await jobs.add(hang, "x");
    await untilState(jobs, id, "dead");
    expect(signals.map((signal) => signal.reason)).toMatchObject([
      { code: "ERR_DOCUMENTS_TIMEOUT" },
      { code: "ERR_DOCUMENTS_TIMEOUT" },
    ]);
  });

  it("a result that cannot be stored fails the job", async () => {
    const jobs = openJobs(await open({ collections }));
    const odd = defineJob<string>("odd", { retries: 0 });
    jobs.work(odd, () => () => "a function");
    const id = await jobs.add(odd, "x");
    await untilState(jobs, id, "dead");
    expect(await jobs.get(id)).toMatchObject({ error: { name: "InputError" } });
  });

  it("no more jobs run at a time than the concurrency allows", async () => {
    const jobs = openJobs(await open({ collections }));
    const slow = defineJob<number>("slow", { concurrency: 3 });
    let running = 0;
    let most = 0;
    let done = 0;
    jobs.work(slow, async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      done += 1;
    });
    await Promise.all(Array.from({ length: 20 }, (_, index) => jobs.add(slow, index)));
    await vi.waitFor(() => expect(done).toBe(20), { timeout: 8000 });
    expect(most).toBe(3);
  });

  it("jobs of a key run one after the other in their order, also when one fails, and others are not held up", async () => {
    const store = await open({ collections });
    const key = ({ to }: { to: string }): string => to;
    const send = defineJob<{ to: string; text: number }>("send", {
      key,
      concurrency: 8,
      retries: 3,
      backoff: quick,
    });
    const first = openJobs(store);
    const queues = [first, openJobs(store)];
    const events: string[] = [];
    const ran: { to: string; text: number }[] = [];
    for (const jobs of queues) {
      jobs.work(send, async ({ to, text }, { attempt }) => {
        events.push(`begin ${to}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        events.push(`end ${to}`);
        if (text === 2 && attempt < 3) throw new Error("again");
        ran.push({ to, text });
      });
    }
    for (let text = 1; text <= 5; text += 1) {
      await Promise.all(["a", "b", "c"].map((to) => first.add(send, { to, text })));
    }
    await vi.waitFor(() => expect(ran).toHaveLength(15), { timeout: 15_000 });
    for (const to of ["a", "b", "c"]) {
      expect(ran.flatMap((each) => (each.to === to ? [each.text] : []))).toEqual([1, 2, 3, 4, 5]);
      const own = events.filter((event) => event.endsWith(` ${to}`));
      expect(own.every((event, index) => event.startsWith(index % 2 === 0 ? "begin" : "end"))).toBe(
        true,
      );
    }
    await vi.waitFor(async () =>
      expect(await store.collection(jobCollections.lines).count()).toBe(0),
    );
  });

  it("a dead or cancelled job lets the next one of its key begin", async () => {
    const jobs = openJobs(await open({ collections }));
    const send = defineJob<string>("send", { key: () => "one", retries: 0 });
    const ids: string[] = [];
    for (const text of ["cancelled", "blocked", "dead", "last"]) {
      ids.push(await jobs.add(send, text));
    }
    const [cancelled = "", blocked = "", dead = "", last = ""] = ids;
    expect(await jobs.get(blocked)).toMatchObject({ state: "blocked" });
    expect(await jobs.cancel(blocked)).toBe(true);
    expect(await jobs.cancel(cancelled)).toBe(true);
    expect(await jobs.get(dead)).toMatchObject({ state: "waiting" });
    jobs.work(send, (text) => {
      if (text === "dead") throw new Error("no");
      return text;
    });
    await untilState(jobs, last, "done");
    expect(await jobs.get(dead)).toMatchObject({ state: "dead" });
    expect(await jobs.cancel(dead)).toBe(false);
  });

  it("an effect is stored with the end of its job, or not at all", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const effects = store.collection(jobCollections.lines);
    const once = defineJob<string>("once", { backoff: quick });
    jobs.work(once, async (_input, { attempt, complete }) => {
      await complete(async (transaction) => {
        const inside = transaction.collection(jobCollections.lines);
        await inside.insert({ last: attempt, turn: 0 });
        if (attempt === 1) throw new Error("after the effect");
        return attempt;
      });
      throw new Error("after the job is done");
    });
    const id = await jobs.add(once, "x");
    await untilState(jobs, id, "done");
    expect(await jobs.get(id)).toMatchObject({ result: 2, failures: 1 });
    expect(await effects.find()).toMatchObject([{ last: 2 }]);
  });

  it("a running job is cancelled: its signal aborts, and it changes nothing any more", async () => {
    const store = await open({ collections });
    const here = openJobs(store);
    const elsewhere = openJobs(store);
    const long = defineJob<string>("long");
    const ended: unknown[] = [];
    here.work(long, async (_input, { signal, complete }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await complete(() => "too late").catch((error: unknown) => ended.push(error));
    });
    const id = await here.add(long, "x");
    await untilState(elsewhere, id, "running");
    expect(await elsewhere.cancel(id)).toBe(true);
    await untilState(here, id, "cancelled");
    expect(ended).toMatchObject([{ code: "ERR_DOCUMENTS_CANCELLED" }]);
    expect(await here.get(id)).toMatchObject({ result: undefined });
  });

  it("a job that is cancelled before its process notices does not complete", async () => {
    const store = await open({ collections });
    const here = openJobs(store);
    const elsewhere = openJobs(store);
    const soon = defineJob<string>("soon");
    here.work(soon, async (_input, { id, complete }) => {
      await elsewhere.cancel(id);
      await complete((transaction) =>
        transaction.collection(jobCollections.lines).insert({ last: 1, turn: 1 }),
      );
    });
    const id = await here.add(soon, "x");
    await untilState(here, id, "cancelled");
    expect(await store.collection(jobCollections.lines).count()).toBe(0);
  });

  it("a job that runs for a second is shown as running", async () => {
    const jobs = openJobs(await open({ collections }));
    const long = defineJob<string>("long");
    const seen = Promise.withResolvers<void>();
    jobs.work(long, () => seen.promise);
    const id = await jobs.add(long, "x");
    await untilState(jobs, id, "running");
    expect((await jobs.list({ state: "running" })).items).toHaveLength(1);
    seen.resolve();
    await untilState(jobs, id, "done");
  });

  it("a worker that stops puts back what it did not finish, for the next one", async () => {
    const store = await open({ collections });
    const first = openJobs(store);
    const long = defineJob<string>("long");
    const begun = Promise.withResolvers<void>();
    const worker = first.work(long, (_input, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    });
    const id = await first.add(long, "x");
    await begun.promise;
    await worker.stop({ grace: 10 });
    expect(await first.get(id)).toMatchObject({ state: "waiting", failures: 0 });
    openJobs(store).work(long, (_input, { attempt }) => attempt);
    await untilState(first, id, "done");
    expect(await first.get(id)).toMatchObject({ result: 1 });
  });

  it("jobs of another release are left alone, and one with an unknown state of mind is listed", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const known = defineJob<string>("known");
    const unknown = defineJob<string>("known.next");
    jobs.work(known, (text) => text);
    const left = await jobs.add(unknown, "left");
    const done = await jobs.add(known, "done");
    await untilState(jobs, done, "done");
    expect(await jobs.get(left)).toMatchObject({ state: "waiting", job: "known.next" });
  });

  it("names of prototypes in an input are data, and what JSON cannot hold is rejected", async () => {
    const jobs = openJobs(await open({ collections }));
    const echo = defineJob<unknown>("echo");
    jobs.work(echo, (input) => input);
    const input: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}');
    const id = await jobs.add(echo, input);
    await untilState(jobs, id, "done");
    expect(JSON.stringify((await jobs.get(id))?.result)).toBe(JSON.stringify(input));
    await expect(jobs.add(echo, () => 1)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VALUE" });
    await expect(jobs.add(echo, "x".repeat(17 * 1024 * 1024))).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_VALUE",
    });
    await expect(jobs.add(echo, 1, { id: "no/such" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_ID",
    });
  });

  it("the schema checks the input when it is queued and makes that of the handler", async () => {
    const jobs = openJobs(await open({ collections }));
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "string"
            ? { value: value.length }
            : { issues: [{ message: "expected text", path: ["a", { key: 1 }] }] },
        types: undefined as { input: string; output: number } | undefined,
      },
    } as const;
    const count = defineJob("count", { schema });
    jobs.work(count, (length: number) => length);
    const id = await jobs.add(count, "four");
    await untilState(jobs, id, "done");
    expect(await jobs.get(id)).toMatchObject({ input: "four", result: 4 });
    const wrong: unknown = 4;
    await expect(jobs.add(count, wrong as string)).rejects.toThrow("a[1]: expected text");
    // The key is that of an input that was checked.
    const keyed = defineJob("keyed", { schema, key: (text) => text.toLowerCase() });
    await expect(jobs.add(keyed, wrong as string)).rejects.toThrow("a[1]: expected text");
  });

  it("a job with keep 0 is removed when it is done", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const secret = defineJob<string>("secret", { keep: 0, keepDead: 0, retries: 0 });
    jobs.work(secret, (text) => {
      if (text === "fail") throw new Error("no");
    });
    await jobs.add(secret, "done");
    await jobs.add(secret, "fail");
    await vi.waitFor(async () =>
      expect(await store.collection(jobCollections.jobs).count()).toBe(0),
    );
  });

  it("all jobs are listed by pages, the newest first", async () => {
    const jobs = openJobs(await open({ collections }));
    const note = defineJob<number>("note");
    for (let index = 0; index < 5; index += 1) await jobs.add(note, index);
    const first = await jobs.list({ limit: 3 });
    const second = await jobs.list({ limit: 3, after: first.next });
    expect([...first.items, ...second.items].map(({ input }) => input)).toEqual([4, 3, 2, 1, 0]);
    expect(second.next).toBeUndefined();
    await expect(jobs.list({ job: "note" })).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    await expect(jobs.list({ state: "queued" as never })).rejects.toThrow(
      '"state" must be one of "blocked", "cancelled", "dead", "delayed", "done", "running", "waiting"',
    );
  });

  it("an index serves every query of the queue", async () => {
    const slow: string[] = [];
    const store = await openNew({
      collections,
      onUnindexedQuery: ({ warnings }) => slow.push(...warnings),
    });
    const jobs = openJobs(store);
    const keyed = defineJob<string>("keyed", { key: (text) => text, retries: 1, backoff: quick });
    jobs.work(keyed, (text) => {
      if (text === "fail") throw new Error("no");
    });
    const id = await jobs.add(keyed, "fail");
    const ids = [await jobs.add(keyed, "a"), await jobs.add(keyed, "a")];
    await jobs.cancel(await jobs.add(keyed, "later", { delay: 60_000 }));
    await untilState(jobs, id, "dead");
    for (const each of ids) await untilState(jobs, each, "done");
    for (const state of ["waiting", "dead", "done", "running", "blocked"] as const) {
      await jobs.list({ state, job: "keyed" });
      await jobs.list({ state });
    }
    await jobs.list();
    await purgeEnded(tablesOf(store));
    expect(slow).toEqual([]);
  });

  it("jobs that are kept no longer are removed, and no others", async () => {
    const store = await open({ collections });
    const jobs = openJobs(store);
    const short = defineJob<string>("short", { keep: 1 });
    const long = defineJob<string>("long");
    jobs.work(short, () => undefined);
    jobs.work(long, () => undefined);
    const kept = await jobs.add(long, "kept");
    await Promise.all([1, 2, 3].map((text) => jobs.add(short, String(text))));
    await untilState(jobs, kept, "done");
    await vi.waitFor(async () => {
      await purgeEnded(tablesOf(store));
      const { items } = await jobs.list({ state: "done" });
      expect(items.map(({ id }) => id)).toEqual([kept]);
    });
  });
});
