import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as testing from "@fetchwork/service/test";
import type { BackEndTask } from "./back-end-task.ts";
import { backEndTasks } from "./back-end-tasks.ts";
import { CheckedService } from "./checked-service.ts";

/**
 * Opens the service of a project in memory, with the packages that the project has, and checks
 * whether a task is done.
 *
 * @throws whatever the check finds, and whatever keeps the service from starting
 */
export async function checkProject(task: BackEndTask, folder: string): Promise<void> {
  const packages = createRequire(join(folder, "package.json"));
  // The modules of a project are those of its packages and of its template.
  const { testService } = (await load(
    packages.resolve("@fetchwork/service/test"),
  )) as typeof testing;
  const { app } = (await load(join(folder, "src/app.ts"))) as {
    readonly app: Parameters<typeof testService>[0];
  };
  const { settings = {} } = task;
  // For those who read a setting from the environment themselves.
  Object.assign(process.env, settings);
  const service = await testService(app, { settings });
  try {
    await task.check(new CheckedService(service, folder));
  } finally {
    for (const name of Object.keys(settings)) delete process.env[name];
    await service.close();
  }
}

function load(path: string): Promise<unknown> {
  return import(pathToFileURL(path).href);
}

/** Checks the project in the folder of this process. */
export async function checkHere(name: string): Promise<void> {
  const task = backEndTasks.find((one) => one.name === name);
  if (task === undefined) throw new TypeError(`unknown task ${name}`);
  await checkProject(task, process.cwd());
}
