import { Budget, planProject, schedule, specifyFilePaths } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { promptOption, readPrompt, readTextFile } from "./read-prompt.ts";
import { checkLimits, limitOptions, limitsOf } from "./work-options.ts";
import { toRunFailure } from "./run-failure.ts";

/** `fetchwork agent files`. */
export const files: Command = defineCommand({
  summary: "Print the files that a program would consist of, in the order of writing",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    plan: {
      type: "string",
      hint: "file",
      description: "File with the plan to follow, instead of asking the model for one",
    },
    ...modelOptions,
    ...limitOptions,
    json: { type: "boolean", description: "Print JSON; without --plan, with the whole contract" },
  },
  async run({ values, positionals: [argument] }, io) {
    try {
      const limits = checkLimits(values);
      const prompt = await readPrompt({ argument, option: values.prompt }, io);
      if (prompt === undefined) throw new CommandUsageError("prompt is missing");
      const plan =
        values.plan === undefined ? undefined : await readTextFile(values.plan, "plan", io);
      const chosen = await chooseModel(values, io, { run: { prompt } });
      const { provider, model, temperature, modelName } = chosen;
      const { budget, maxOutputTokens } = limitsOf(limits, [modelName]);
      const { signal } = io;
      const asked = { provider, model, temperature, maxOutputTokens, signal };
      const options = { ...asked, budget: new Budget(budget) };
      if (plan !== undefined) {
        const paths = await specifyFilePaths(prompt, plan, options);
        if (values.json === true) io.stdout.write(jsonLine({ paths }));
        else io.stdout.write(paths.map((path) => `${oneLine(path)}\n`).join(""));
        return 0;
      }
      const project = await planProject(prompt, options);
      const paths = schedule(project.files).flat();
      if (values.json === true) io.stdout.write(jsonLine({ paths, ...project }));
      else io.stdout.write(paths.map((path) => `${oneLine(path)}\n`).join(""));
      return 0;
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
