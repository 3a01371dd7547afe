import { resolve } from "node:path";
import { listRuns, type RunSummary } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { usageText } from "./view/event-line.ts";
import { outOption } from "./output-options.ts";

/** `fetchwork agent runs`. */
export const runs: Command = defineCommand({
  summary: "List the runs of a folder, newest first",
  options: {
    ...outOption,
    json: { type: "boolean", description: "Print one line of JSON per run" },
  },
  async run({ values }, io) {
    const { green, dim } = colours(io.stdout);
    const folder = resolve(io.cwd, values.out);
    const found = await listRuns(folder);
    if (found.length === 0) io.stderr.write(`No runs in ${oneLine(folder, 200)}\n`);
    for (const run of found) {
      if (values.json === true) {
        io.stdout.write(jsonLine(run));
        continue;
      }
      const { runId, finished, usage, prompt = "" } = run;
      const state = finished ? green("finished") : dim(progressOf(run));
      io.stdout.write(
        `${runId}  ${state}  ${dim(usageText(usage))}  ${oneLine(prompt.trim(), 60)}\n`,
      );
    }
    return 0;
  },
});

function progressOf({ done, total }: RunSummary): string {
  return total === undefined ? "not planned" : `${done}/${total} files`;
}
