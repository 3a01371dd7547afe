import { Budget, plan as askPlan } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command.ts";
import { jsonLine, manyLines } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { checkLimits, limitOptions, limitsOf } from "./work-options.ts";
import { tellFailure } from "./tell-failure.ts";

/** `fetchwork agent plan`. */
export const plan: Command = defineCommand({
  summary: "Print a plan, to be changed and given to --plan",
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
      if (prompt === undefined) throw new UsageError("prompt is missing");
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
      throw tellFailure(error, values, io);
    }
  },
});
