import { resolve } from "node:path";
import { listRuns, type RunSummary } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command.ts";
import { colours, jsonLine, oneLine } from "../terminal-text.ts";
import { usageText } from "./event-line.ts";
import { outOption } from "./output-options.ts";
import { tellFailure } from "./tell-failure.ts";

/** `fetchwork agent runs`. */
export const runs: Command = defineCommand({
  summary: "List the runs of a folder, the newest first",
  options: {
    ...outOption,
    json: { type: "boolean", description: "Print a line of JSON for each" },
  },
  async run({ values }, io) {
    try {
      const { green, dim } = colours(io.stdout);
      const folder = resolve(io.cwd, values.out);
      const found = await listRuns(folder);
      if (found.length === 0) io.stderr.write(`There are no runs in ${oneLine(folder, 200)}\n`);
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
    } catch (error) {
      throw tellFailure(error, values, io);
    }
  },
});

function progressOf({ done, total }: RunSummary): string {
  return total === undefined ? "not planned" : `${done}/${total} files`;
}
