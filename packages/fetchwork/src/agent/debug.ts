import { diagnose } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { modelOptions } from "./model-options.ts";
import { contextOption, programFolder, questionOf } from "./project-question.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { toRunFailure } from "./run-failure.ts";
import { limitOptions } from "./work-options.ts";

/** `fetchwork agent debug`. */
export const debug: Command = defineCommand({
  summary: "Explain an error of a program without changing it",
  positionals: ["folder", "[error]"],
  options: {
    prompt: {
      ...promptOption.prompt,
      description: "The error, if it is not the argument; - reads standard input",
    },
    ...contextOption,
    ...modelOptions,
    ...limitOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    try {
      const folder = programFolder(named, io);
      const problem = await readPrompt({ argument, option: values.prompt }, io);
      if (problem === undefined) throw new CommandUsageError("error is missing");
      const text = await diagnose(folder, problem, await questionOf(values, io));
      if (values.json === true) io.stdout.write(jsonLine({ explanation: text }));
      else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
      return 0;
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
