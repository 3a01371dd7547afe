import type { ContextFile } from "../calls/prompts.ts";
import { contextFile } from "../run/context-files.ts";
import type { RunningStep } from "./task-agent.ts";

/** Finished files of a task, as the writer of another one sees them. Those that do not exist are left out. */
export async function contextFiles(
  paths: readonly string[],
  step: Pick<RunningStep, "read">,
): Promise<readonly ContextFile[]> {
  const files = await Promise.all(
    paths.map(async (path): Promise<readonly ContextFile[]> => {
      const source = await step.read(path);
      return source === undefined ? [] : [await contextFile(path, source)];
    }),
  );
  return files.flat();
}
