import { z } from "zod";
import type { Sandbox } from "../verify/sandbox.ts";
import { withCopy } from "../verify/program-copy.ts";
import type { ChangedFiles } from "./changed-files.ts";
import { outputOf } from "./cut-output.ts";
import { defineTool, type LoopTool } from "./loop-tool.ts";

/** Seconds that a command may take. */
const longest = 600;

/**
 * A tool that runs commands in a sandbox, on a copy of the program as it is at the time.
 *
 * @param from folder of the program: its installed packages can be read there
 */
export function runTool(files: ChangedFiles, sandbox: Sandbox, from: string): LoopTool {
  return defineTool({
    mayDiffer: true,
    description:
      "Runs a command of the shell in a sandbox without network, on a copy of the program as it is now: tests, a build. What it changes in files is not kept.",
    input: z.object({
      command: z.string().min(1).max(10_000),
      seconds: z.int().min(1).max(longest).optional(),
    }),
    about: ({ command }) => command,
    execute: ({ command, seconds = 60 }, signal) => {
      const { changed } = files;
      const options = { signal, timeout: seconds * 1_000 };
      return withCopy(files.files, { sandbox, from, changed, signal }, async (cwd, inside) =>
        outputOf(await inside.exec(["sh", "-c", command], { ...options, cwd }), cwd),
      );
    },
  });
}
