import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Store } from "../../src/index.ts";
import { createJobs, defineJob, jobCollections, type Jobs } from "../../src/jobs/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const collections = Object.values(jobCollections);
const report = defineJob<string>("report");

function openJobs(store: Store): Jobs {
  const jobs = createJobs(store);
  onTestFinished(() => jobs.close());
  return jobs;
}

async function queued(jobs: Jobs): Promise<readonly string[]> {
  return (await jobs.list()).items.map(({ id }) => id).toReversed();
}

/** Sets the clock; timers stay real. */
function setTime(time: string): void {
  vi.useFakeTimers({ now: new Date(time), toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe.each(enginesOfFile())("schedules of jobs on %s", (_name, open) => {
  it("a time is queued once, however many processes have the schedule", async () => {
    const store = await open({ collections });
    const queues = [openJobs(store), openJobs(store), openJobs(store)];
    await Promise.all(
      queues.map((jobs) => jobs.schedule("often", report, { cron: "* * * * * *", input: "x" })),
    );
    const [jobs] = queues;
    await vi.waitFor(async () => expect((await jobs?.list())?.items).toHaveLength(2), {
      timeout: 8000,
    });
    const seconds = (await jobs?.list())?.items.map(({ id }) => id);
    expect(new Set(seconds).size).toBe(2);
    expect(seconds?.[0]).toMatch(/^often@.*\.000Z$/);
  });

  it("of the times that were missed, the last one is queued; before the first start, none", async () => {
    const store = await open({ collections });
    const options = { cron: "0 3 * * *", timeZone: "Europe/Berlin", input: "x" };
    setTime("2030-01-10T12:00:00Z");
    const first = openJobs(store);
    await first.schedule("nightly", report, options);
    expect(await queued(first)).toEqual([]);
    await first.close();
    setTime("2030-01-15T12:00:00Z");
    const second = openJobs(store);
    await second.schedule("nightly", report, options);
    await openJobs(store).schedule("nightly", report, options);
    expect(await queued(second)).toEqual(["nightly@2030-01-15T02:00:00.000Z"]);
  });

  it("times are queued again by a process that starts when a clock that was ahead is right", async () => {
    const store = await open({ collections });
    const options = { cron: "0 3 * * *", input: "x" };
    for (const now of ["2031-01-10T02:00:00Z", "2031-01-11T12:00:00Z", "2030-01-15T12:00:00Z"]) {
      setTime(now);
      const jobs = openJobs(store);
      await jobs.schedule("nightly", report, options);
      await jobs.close();
    }
    for (const day of ["16", "17"]) {
      setTime(`2030-01-${day}T12:00:00Z`);
      const jobs = openJobs(store);
      await jobs.schedule("nightly", report, options);
      expect(await queued(jobs)).toContain(`nightly@2030-01-${day}T03:00:00.000Z`);
      await jobs.close();
    }
  });

  it("local times follow the clocks of their zone", async () => {
    const store = await open({ collections });
    const options = { cron: "0 3 * * *", timeZone: "Europe/Berlin", input: "x" };
    for (const [day, hour] of [
      ["03-30", "02"],
      ["04-01", "01"],
    ] as const) {
      setTime(`2030-${day}T00:30:00Z`);
      const before = openJobs(store);
      await before.schedule("nightly", report, options);
      await before.close();
      setTime(`2030-${day}T04:00:00Z`);
      const after = openJobs(store);
      await after.schedule("nightly", report, options);
      expect((await queued(after)).at(-1)).toBe(`nightly@2030-${day}T${hour}:00:00.000Z`);
      await after.close();
    }
  });

  it("times that are changed do not count for the past, and a schedule that is removed ends", async () => {
    const store = await open({ collections });
    setTime("2030-01-10T12:00:00Z");
    const jobs = openJobs(store);
    await jobs.schedule("report", report, { cron: "0 3 * * *", input: "x" });
    setTime("2030-01-12T12:00:00Z");
    await jobs.schedule("report", report, { cron: "0 4 * * *", input: "x" });
    expect(await queued(jobs)).toEqual([]);
    expect(await jobs.unschedule("report")).toBe(true);
    expect(await jobs.unschedule("report")).toBe(false);
    expect(await store.collection(jobCollections.schedules).count()).toBe(0);
  });

  it.each([
    { cron: "0 25 * * *" },
    { cron: "every day" },
    { cron: "0 0 30 2 *" },
    { cron: "0 3 * * *", timeZone: "Mars/Olympus" },
  ])("times that are invalid are rejected: %j", async (times) => {
    const jobs = openJobs(await open({ collections }));
    await expect(jobs.schedule("a", report, { ...times, input: "x" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });
});
