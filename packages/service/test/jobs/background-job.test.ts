import { DocumentsTypeError } from "@fetchwork/documents";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import {
  backgroundJob,
  type BackgroundJob,
  type BackgroundJobOptions,
  defineConfig,
  defineService,
  serverSettings,
  type Service,
  ServiceError,
  StartError,
} from "../../src/index.ts";
import { startFailure } from "../../src/start-failure.ts";
import { testService } from "../../src/testing/test-service.ts";
import { config, note, tidy, app } from "../notes-service.ts";

function serviceWith(...jobs: NonNullable<Service["options"]["jobs"]>): Service {
  return defineService({ name: "works", config: defineConfig({ ...serverSettings }), jobs });
}

const soon = { baseDelay: 1, maxDelay: 1 };

describe("backgroundJob", () => {
  const run = async (): Promise<void> => undefined;

  it.each<[string, object, typeof ServiceError | typeof DocumentsTypeError]>([
    ["an unknown option", { handler: run }, DocumentsTypeError],
    ["a name with spaces", { name: "send mail" }, DocumentsTypeError],
    ["a number of retries below 0", { retries: -1 }, DocumentsTypeError],
    ["an unknown option of the schedule", { schedule: { every: "1h" } }, ServiceError],
  ])("refuses %s", (_, wrong, kind) => {
    const options = { name: "send", run, ...wrong } as BackgroundJobOptions<undefined>;
    expect(() => backgroundJob(options)).toThrow(kind);
  });

  it.each([
    ["61 * * * *", "UTC"],
    ["every hour", "UTC"],
    ["0 0 31 2 *", "UTC"],
    ["0 3 * * *", "Europe/Nowhere"],
  ])("is not started at the times %j in %s, which a line says", async (cron, timeZone) => {
    const nightly = backgroundJob({ name: "nightly", schedule: { cron, timeZone }, run });
    const error: unknown = await testService(serviceWith(nightly)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StartError);
    expect(startFailure("works", error).split("\n")).toEqual([
      expect.stringContaining(`works: the job nightly: the times "${cron}"`),
    ]);
  });

  it("has the types of its input", () => {
    expectTypeOf(tidy).toEqualTypeOf<BackgroundJob<{ readonly text: string }>>();
    const parsed = backgroundJob({
      name: "parsed",
      schema: z.object({ day: z.coerce.date() }),
      run: async ({ day }) => void expectTypeOf(day).toEqualTypeOf<Date>(),
    });
    expect(parsed.name).toBe("parsed");
  });
});

describe("a job", () => {
  it("works with the store, the settings, the jobs and the sender of its service", async () => {
    const seen = vi.fn<(text: string) => void>();
    const second = backgroundJob<string>({ name: "second", run: async (text) => seen(text) });
    const first = backgroundJob({
      name: "first",
      async run(_input, inService) {
        const { jobs, sender, store } = inService;
        await store.collection(note.collection).insert({ text: "from a job" });
        await sender.send({ name: "tidied", payload: {} });
        await jobs.add(second, config.of(inService).MASTER_KEY.slice(0, 4));
      },
    });
    const service = await testService(defineService({ ...app.options, jobs: [first, second] }));
    await service.jobs.add(first, undefined);
    await expect.poll(() => seen.mock.calls).toEqual([["test"]]);
    const notes = await service.store.collection(note.collection).find();
    expect(notes).toMatchObject([{ text: "from a job" }]);
  });

  it("is tried again as often as its retries say, and is dead then", async () => {
    const run = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("not yet"));
    const failing = backgroundJob({ name: "failing", retries: 2, backoff: soon, run });
    const { jobs } = await testService(serviceWith(failing));
    const id = await jobs.add(failing, undefined);
    await expect.poll(async () => (await jobs.get(id))?.state).toBe("dead");
    expect(run).toHaveBeenCalledTimes(3);
  });

  it("is done by the attempt that succeeds", async () => {
    const run = vi.fn<() => Promise<void>>().mockResolvedValue();
    run.mockRejectedValueOnce(new Error("not yet"));
    const shaky = backgroundJob({ name: "shaky", backoff: soon, run });
    const { jobs } = await testService(serviceWith(shaky));
    const id = await jobs.add(shaky, undefined);
    await expect.poll(async () => (await jobs.get(id))?.state).toBe("done");
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("makes what it changes in `run.complete` happen once, or not at all", async () => {
    let attempts = 0;
    const counted = backgroundJob({
      name: "counted",
      backoff: soon,
      async run(_input, { complete }) {
        attempts += 1;
        await complete(async (transaction) => {
          await transaction.collection(note.collection).insert({ text: "once" });
          if (attempts === 1) throw new Error("before the commit");
        });
        throw new Error("after the commit");
      },
    });
    const { jobs, store } = await testService(defineService({ ...app.options, jobs: [counted] }));
    const id = await jobs.add(counted, undefined);
    await expect.poll(async () => (await jobs.get(id))?.state).toBe("done");
    expect(attempts).toBe(2);
    expect(await store.collection(note.collection).count()).toBe(1);
  });

  it("is queued with a transaction, or not at all", async () => {
    const run = vi.fn<() => Promise<void>>().mockResolvedValue();
    const kept = backgroundJob({ name: "kept", run });
    const { jobs, store } = await testService(serviceWith(kept));
    const failed = store.transaction(async (transaction) => {
      await jobs.add(kept, undefined, { transaction });
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");
    expect((await jobs.list()).items).toEqual([]);
    await store.transaction((transaction) => jobs.add(kept, undefined, { transaction }));
    await expect.poll(() => run.mock.calls.length).toBe(1);
  });

  it("is queued at the times of its schedule, with the input", async () => {
    const seen = vi.fn<(text: string) => void>();
    const often = backgroundJob<string>({
      name: "often",
      schedule: { cron: "* * * * * *", timeZone: "Europe/Berlin", input: "tick" },
      run: async (text) => seen(text),
    });
    await testService(serviceWith(often));
    await expect.poll(() => seen.mock.calls[0], { timeout: 15_000 }).toEqual(["tick"]);
  });
});
