import { planProject, schedule, specifyFilePaths } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { askOptions, callOptions } from "./call-options.ts";
import { planOption, promptOption, readTextFile } from "./read-prompt.ts";

/** `fetchwork agent files`. */
export const files: Command = defineCommand({
  summary: "Print the files that a program would consist of, in the order of writing",
  positionals: ["[prompt]"],
  options: {
    ...promptOption,
    ...planOption,
    ...askOptions,
    json: { type: "boolean", description: "Print JSON; without --plan, with the whole contract" },
  },
  async run({ values, positionals: [argument] }, io) {
    const plan =
      values.plan === undefined ? undefined : await readTextFile(values.plan, "plan", io);
    const { prompt, options } = await callOptions("prompt", argument, values, io);
    const project = plan === undefined ? await planProject(prompt, options) : undefined;
    const paths =
      plan === undefined
        ? schedule(project?.files ?? []).flat()
        : await specifyFilePaths(prompt, plan, options);
    if (values.json === true) io.stdout.write(jsonLine({ paths, ...project }));
    else io.stdout.write(paths.map((path) => `${oneLine(path)}\n`).join(""));
    return 0;
  },
});
