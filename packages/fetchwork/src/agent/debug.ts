import { Budget, diagnose } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { programFolder } from "./program-folder.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { toRunFailure } from "./run-failure.ts";
import { checkLimits, count, limitOptions, limitsOf } from "./work-options.ts";

/** `fetchwork agent debug`. */
export const debug: Command = defineCommand({
  summary: "Explain an error of a program without changing it",
  positionals: ["folder", "[error]"],
  options: {
    prompt: {
      ...promptOption.prompt,
      description: "The error, if it is not the argument; - reads standard input",
    },
    "context-tokens": {
      type: "string",
      hint: "number",
      description: "Maximum tokens of source in the request, estimated (default: 100000)",
    },
    ...modelOptions,
    ...limitOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    try {
      const folder = programFolder(named, io);
      const problem = await readPrompt({ argument, option: values.prompt }, io);
      if (problem === undefined) throw new CommandUsageError("error is missing");
      const maxContextTokens = count("context-tokens", values["context-tokens"], 1e9);
      const limits = checkLimits(values);
      const { provider, model, temperature, modelName } = await chooseModel(values, io);
      const { budget, maxOutputTokens } = limitsOf(limits, [modelName]);
      const text = await diagnose(folder, problem, {
        provider,
        model,
        temperature,
        maxOutputTokens,
        budget: new Budget(budget),
        signal: io.signal,
        maxContextTokens,
      });
      if (values.json === true) io.stdout.write(jsonLine({ explanation: text }));
      else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
      return 0;
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
