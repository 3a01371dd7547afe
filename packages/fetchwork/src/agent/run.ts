import { resolve } from "node:path";
import { createAgent } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { followRun } from "./follow-run.ts";
import { chooseModel, modelOptions, replayedRun } from "./model-options.ts";
import { checkOutput, outOption, outputOptions } from "./output-options.ts";
import { promptOption, readPrompt, readTextFile } from "./read-prompt.ts";
import { newRunId, resumeHint } from "./run-id.ts";
import {
  agentOptions,
  checkWork,
  limitOptions,
  recordedWork,
  workOptions,
} from "./work-options.ts";
import { toRunFailure } from "./run-failure.ts";

/** `fetchwork agent "prompt"`. */
export const run: Command = defineCommand({
  summary: "Write a program from a prompt, given as text or as a file",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    ...outOption,
    plan: {
      type: "string",
      hint: "file",
      description: "File with the plan to follow, instead of asking the model for one",
    },
    "dry-run": { type: "boolean", description: "Print what would be written without writing it" },
    ...modelOptions,
    ...workOptions,
    ...limitOptions,
    ...outputOptions,
  },
  async run({ values, positionals }, io) {
    try {
      checkOutput(values);
      const work = checkWork(values);
      const { out } = values;
      const dryRun = values["dry-run"] === true;
      const given = { argument: positionals[0], option: values.prompt };
      const asked = await readPrompt(given, io);
      const recorded = asked === undefined ? (await replayedRun(values, io))["prompt"] : undefined;
      const prompt = asked ?? (recorded === undefined ? undefined : String(recorded));
      if (prompt === undefined) throw new CommandUsageError("prompt is missing");
      const sharedDeps =
        values.plan === undefined ? undefined : await readTextFile(values.plan, "plan", io);
      const about = { prompt, ...recordedWork(values) };
      const chosen = await chooseModel(values, io, { run: about });
      const options = agentOptions(work, chosen);
      const folder = resolve(io.cwd, out);
      const runId = newRunId();
      const hint = resumeHint(folder, { runId, out, values }, io);
      const { onConflict } = options;
      return await followRun(
        (more) =>
          createAgent({ ...options, ...more }).run({
            prompt,
            out: folder,
            runId,
            sharedDeps,
            dryRun,
            signal: io.signal,
          }),
        { values, hint, dryRun, onConflict },
        io,
      );
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
