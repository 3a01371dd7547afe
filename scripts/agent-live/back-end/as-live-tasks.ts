import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LiveTask } from "../live-tasks.ts";
import type { BackEndTask } from "./back-end-task.ts";
import { startProject } from "./start-project.ts";

/**
 * Makes tasks that an agent can run.
 *
 * @param packages folder of the packages of each project
 */
export async function asLiveTasks(
  tasks: readonly BackEndTask[],
  packages: string,
): Promise<readonly LiveTask[]> {
  const checks = import.meta.dirname;
  const url = pathToFileURL(join(checks, "check-project.ts")).href;
  return Promise.all(
    tasks.map(async ({ name, request, files }) => ({
      name,
      request,
      files: await startProject(files),
      packages,
      check: `import { checkHere } from ${JSON.stringify(url)};
await checkHere(${JSON.stringify(name)});
process.exit(0);
`,
      checkFolder: checks,
    })),
  );
}
