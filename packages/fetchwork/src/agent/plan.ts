import { plan as askPlan } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, manyLines } from "../command/terminal-text.ts";
import { askOptions, callOptions } from "./call-options.ts";
import { promptOption } from "./read-prompt.ts";

/** `fetchwork agent plan`. */
export const plan: Command = defineCommand({
  summary: "Print a plan, to be edited and passed to --plan",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    ...askOptions,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values, positionals: [argument] }, io) {
    const call = await callOptions("prompt", argument, values, io);
    const text = await askPlan(call.prompt, call.options);
    if (values.json === true) io.stdout.write(jsonLine({ sharedDeps: text }));
    else io.stdout.write(`${io.stdout.isTerminal ? manyLines(text) : text}\n`);
    return 0;
  },
});
