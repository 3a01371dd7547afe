import { resolve } from "node:path";
import { createAgent } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { followRun } from "./follow-run.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { checkOutput, outOption, outputOptions } from "./output-options.ts";
import { planOption, promptOption, readTextFile, requirePrompt } from "./read-prompt.ts";
import {
  agentOptions,
  checkWork,
  limitOptions,
  recordedWork,
  workOptions,
} from "./work-options.ts";

/** `fetchwork agent "prompt"`. */
export const run: Command = defineCommand({
  summary: "Write a program from a prompt, given as text or as a file",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    ...outOption,
    ...planOption,
    "dry-run": { type: "boolean", description: "Print what would be written without writing it" },
    ...modelOptions,
    ...workOptions,
    ...limitOptions,
    ...outputOptions,
  },
  async run({ values, positionals }, io) {
    checkOutput(values);
    const work = checkWork(values);
    const { out } = values;
    const dryRun = values["dry-run"] === true;
    const prompt = await requirePrompt("prompt", positionals[0], values, io);
    const sharedDeps =
      values.plan === undefined ? undefined : await readTextFile(values.plan, "plan", io);
    const about = { prompt, ...recordedWork(values) };
    const chosen = await chooseModel(values, io, { run: about });
    const options = agentOptions(work, chosen);
    const folder = resolve(io.cwd, out);
    const { onConflict } = options;
    return followRun(
      (more) =>
        createAgent({ ...options, ...more }).run({
          prompt,
          out: folder,
          sharedDeps,
          dryRun,
          signal: io.signal,
        }),
      { values, named: out, dryRun, onConflict },
      io,
    );
  },
});
