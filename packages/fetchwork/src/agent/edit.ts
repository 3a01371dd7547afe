import { createAgent } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { followRun } from "./follow-run.ts";
import { chooseModel, modelOptions, replayedRun } from "./model-options.ts";
import { checkOutput, outputOptions } from "./output-options.ts";
import { programFolder } from "./program-folder.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { newRunId, resumeHint } from "./run-id.ts";
import { agentOptions, checkWork, limitOptions, workOptions } from "./work-options.ts";
import { toRunFailure } from "./run-failure.ts";

const {
  "plan-model": _plan,
  "repair-model": _repairModel,
  "on-conflict": _conflict,
  repair: _repair,
  concurrency: _concurrency,
  ...editWork
} = workOptions;

/** `fetchwork agent edit`. */
export const edit: Command = defineCommand({
  summary: "Change an existing program: all edits or none",
  positionals: ["folder", "[request]"],
  options: {
    ...promptOption,
    "dry-run": { type: "boolean", description: "Print what would be written without writing it" },
    dirty: { type: "boolean", description: "Also with changes that git has not committed" },
    commit: {
      type: "boolean",
      description: "Commit the files of a run without new errors; runs the hooks of your git",
    },
    ...modelOptions,
    ...editWork,
    ...limitOptions,
    ...outputOptions,
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    try {
      checkOutput(values);
      const work = checkWork(values);
      const folder = programFolder(named, io);
      const asked = await readPrompt({ argument, option: values.prompt }, io);
      const recorded = asked === undefined ? (await replayedRun(values, io))["prompt"] : undefined;
      const request = asked ?? (recorded === undefined ? undefined : String(recorded));
      if (request === undefined) throw new CommandUsageError("request is missing");
      const chosen = await chooseModel(values, io, { run: { prompt: request } });
      const options = agentOptions(work, chosen);
      const dryRun = values["dry-run"] === true;
      const runId = newRunId();
      const hint = resumeHint(folder, { runId, out: named, values }, io);
      return await followRun(
        (more) =>
          createAgent({ ...options, ...more }).edit({
            request,
            out: folder,
            runId,
            dryRun,
            dirty: values.dirty,
            commit: values.commit,
            signal: io.signal,
          }),
        // An edit was made for the current files, so there is nothing to merge.
        { values, hint, dryRun, onConflict: "overwrite" },
        io,
      );
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
