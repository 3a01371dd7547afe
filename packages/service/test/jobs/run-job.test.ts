import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { backgroundJob, defineConfig, defineService, serverSettings } from "../../src/index.ts";
import { testService } from "../../src/testing/test-service.ts";

let attempts = 0;
const nightly = backgroundJob<{ readonly by: number } | undefined>({
  name: "nightly",
  schedule: { cron: "0 3 * * *", timeZone: "UTC", input: { by: 2 } },
  async run(input) {
    return { doubled: (input?.by ?? 0) * 2 };
  },
});
const failing = backgroundJob({
  name: "failing",
  backoff: { baseDelay: 1, maxDelay: 1 },
  run() {
    attempts += 1;
    throw new RangeError("too far");
  },
});
const other = backgroundJob({ name: "other", run: () => undefined });
const app = defineService({
  name: "works",
  config: defineConfig({ ...serverSettings }),
  jobs: [nightly, failing],
});

it("runJob() refuses a job that the service does not have", async () => {
  const service = await testService(app);
  await expect(service.runJob(other)).rejects.toThrow("the service works has no job other");
});

it("runJob() rejects with the error of the first attempt, and none follows", async () => {
  const service = await testService(app);
  attempts = 0;
  await expect(service.runJob(failing)).rejects.toMatchObject({
    name: "RangeError",
    message: "too far",
  });
  // With this pause another attempt may be under way when the job is cancelled.
  const states = async () => (await service.jobs.list()).items.map(({ state }) => state);
  await expect.poll(states, { interval: 5 }).toContain("cancelled");
  const count = attempts;
  await setTimeout(50);
  expect(attempts).toBe(count);
});

it("runJob() runs a job with its input or that of its schedule, and resolves to its result", async () => {
  const service = await testService(app);
  expect(await service.runJob(nightly)).toEqual({ doubled: 4 });
  expect(await service.runJob(nightly, { by: 5 })).toEqual({ doubled: 10 });
});

it("runJob() waits for a job at a clock that was put forward", async () => {
  const service = await testService(app);
  service.advance(25 * 60 * 60 * 1000);
  expect(await service.runJob(nightly, { by: 1 })).toEqual({ doubled: 2 });
});
