import { Budget, plan as askPlan } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { checkLimits, limitOptions, limitsOf } from "./work-options.ts";
import { toRunFailure } from "./run-failure.ts";

/** `fetchwork agent plan`. */
export const plan: Command = defineCommand({
  summary: "Print a plan, to be edited and passed to --plan",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    ...modelOptions,
    ...limitOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [argument] }, io) {
    try {
      const limits = checkLimits(values);
      const prompt = await readPrompt({ argument, option: values.prompt }, io);
      if (prompt === undefined) throw new CommandUsageError("prompt is missing");
      const chosen = await chooseModel(values, io, { run: { prompt } });
      const { provider, model, temperature, modelName } = chosen;
      const { budget, maxOutputTokens } = limitsOf(limits, [modelName]);
      const { signal } = io;
      const text = await askPlan(prompt, {
        provider,
        model,
        temperature,
        maxOutputTokens,
        budget: new Budget(budget),
        signal,
      });
      if (values.json === true) io.stdout.write(jsonLine({ sharedDeps: text }));
      else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
      return 0;
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
