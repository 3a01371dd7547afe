import type { ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import type { RunningStep } from "./task-agent.ts";

/** Characters of a file that is shown whole; of longer ones, what they declare. */
const wholeFile = 6_000;

/** Finished files of a task, as the writer of another one sees them. Those that do not exist are left out. */
export async function contextFiles(
  paths: readonly string[],
  step: Pick<RunningStep, "read">,
): Promise<readonly ContextFile[]> {
  const files = await Promise.all(
    paths.map(async (path): Promise<readonly ContextFile[]> => {
      const source = await step.read(path);
      if (source === undefined) return [];
      if (source.length <= wholeFile) return [{ path, form: "text", text: source }];
      return [{ path, form: "declarations", text: await describeDeclarations(path, source) }];
    }),
  );
  return files.flat();
}
