import { codeToPrompt, packProject } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { modelOptions } from "./model-options.ts";
import { contextOption, contextTokens, programFolder, questionOf } from "./project-question.ts";
import { toRunFailure } from "./run-failure.ts";
import { limitOptions } from "./work-options.ts";

/** `fetchwork agent code2prompt`. */
export const code2prompt: Command = defineCommand({
  summary:
    "Print a prompt that describes an existing program, or with --pack the program as one text",
  positionals: ["folder"],
  options: {
    pack: { type: "boolean", description: "Print the files instead, without asking a model" },
    ...contextOption,
    ...modelOptions,
    ...limitOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [named = ""] }, io) {
    const print = (text: string, value: object): void => {
      if (values.json === true) io.stdout.write(jsonLine(value));
      else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
    };
    try {
      const folder = programFolder(named, io);
      if (values.pack === true) {
        const packed = await packProject(folder, { maxTokens: contextTokens(values) });
        const { text, tokens, whole, declared, omitted } = packed;
        print(text, packed);
        io.stderr.write(
          `about ${tokens} tokens: ${whole.length} files whole, ${declared.length} by what they declare, ${omitted.length} by name\n`,
        );
        return 0;
      }
      const text = await codeToPrompt(folder, await questionOf(values, io));
      print(text, { prompt: text });
      return 0;
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
