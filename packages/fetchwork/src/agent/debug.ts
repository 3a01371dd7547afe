import { diagnose } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command.ts";
import { jsonLine, manyLines } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";
import { modelOptions } from "./model-options.ts";
import { contextOption, programFolder, questionOf } from "./project-question.ts";
import { promptOption, readPrompt } from "./read-prompt.ts";
import { tellFailure } from "./tell-failure.ts";
import { limitOptions } from "./work-options.ts";

/** `fetchwork agent debug`. */
export const debug: Command = defineCommand({
  summary: "Explain an error of a program; changes nothing",
  positionals: ["folder", "[error]"],
  options: {
    prompt: {
      ...promptOption.prompt,
      description: "The error, where it is not the argument; - reads standard input",
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
      if (problem === undefined) throw new UsageError("error is missing");
      const text = await diagnose(folder, problem, await questionOf(values, io));
      if (values.json === true) io.stdout.write(jsonLine({ explanation: text }));
      else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
      return 0;
    } catch (error) {
      throw tellFailure(error, values, io);
    }
  },
});
