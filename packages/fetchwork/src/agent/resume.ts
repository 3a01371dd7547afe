import { resolve } from "node:path";
import { createAgent, listRuns } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { followRun } from "./follow-run.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { checkOutput, outOption, outputOptions } from "./output-options.ts";
import { resumeHint } from "./run-id.ts";
import { agentOptions, checkWork, limitOptions, workOptions } from "./work-options.ts";
import { toRunFailure } from "./run-failure.ts";

/** `fetchwork agent resume`. */
export const resume: Command = defineCommand({
  summary: "Resume an unfinished run; finished files are not requested again",
  positionals: ["[run]"],
  options: { ...outOption, ...modelOptions, ...workOptions, ...limitOptions, ...outputOptions },
  async run({ values, positionals: [named] }, io) {
    try {
      checkOutput(values);
      const work = checkWork(values);
      const { out } = values;
      const folder = resolve(io.cwd, out);
      const runId = named ?? (await lastRun(folder, out));
      const options = agentOptions(work, await chooseModel(values, io, { mayAppend: true }));
      return await followRun(
        (more) =>
          createAgent({ ...options, ...more }).resume(runId, { out: folder, signal: io.signal }),
        { values, hint: resumeHint(folder, { runId, out, values }, io) },
        io,
      );
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});

async function lastRun(folder: string, out: string): Promise<string> {
  const runs = await listRuns(folder);
  const last = runs.find(({ finished, prompt }) => !finished && prompt !== undefined);
  if (last !== undefined) return last.runId;
  throw new CommandUsageError(`no unfinished run in ${JSON.stringify(out)}`);
}
