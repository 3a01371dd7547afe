import { openStore } from "@fetchwork/documents";
import { createJobs } from "@fetchwork/documents/jobs";
import { backgroundJob, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { expect, type Platform } from "../platform.ts";

/** Reads settings, refuses wrong ones, and defines a service with a job. */
export async function smoke(_platform: Platform): Promise<void> {
  const config = defineConfig({ ...serverSettings });
  const settings = config.read({ MASTER_KEY: "m".repeat(32), PORT: "8080" });
  expect("a setting", settings.PORT, 8080);
  let fault = "";
  try {
    config.read({ PORT: "x" });
  } catch (error) {
    fault = (error as Error).message;
  }
  expect("faults", fault.split("\n").length, 2);
  const job = backgroundJob<{ readonly text: string }>({
    name: "say",
    run: () => Promise.resolve(),
  });
  const service = defineService({ name: "test", config, jobs: [job] });
  const store = await openStore("sqlite::memory:", { collections: service.collections });
  const jobs = createJobs(store);
  const { promise: done, resolve } = Promise.withResolvers<string>();
  jobs.work(job, ({ text }) => {
    resolve(text);
    return Promise.resolve();
  });
  await jobs.add(job, { text: "hello" });
  expect("a job", await done, "hello");
  await jobs.close();
  await store.close();
}
