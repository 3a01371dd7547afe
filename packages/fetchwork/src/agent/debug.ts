import { diagnose } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { askOptions, callOptions } from "./call-options.ts";
import { programFolder } from "./program-folder.ts";
import { promptOption } from "./read-prompt.ts";

/** `fetchwork agent debug`. */
export const debug: Command = defineCommand({
  summary: "Explain an error of a program without changing it",
  positionals: ["folder", "[error]"],
  options: {
    prompt: {
      ...promptOption.prompt,
      description: "The error, if it is not the argument; - reads standard input",
    },
    ...askOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    const folder = programFolder(named, io);
    const { prompt, options } = await callOptions("error", argument, values, io);
    const text = await diagnose(folder, prompt, options);
    if (values.json === true) io.stdout.write(jsonLine({ explanation: text }));
    else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
    return 0;
  },
});
