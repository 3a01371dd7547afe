import { resolve } from "node:path";
import { createAgent, listRuns, type RunSummary } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import type { CommandIo } from "../command/command-io.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { followRun } from "./follow-run.ts";
import { mcpOption, mcpServers } from "./mcp-option.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { checkOutput, outOption, outputOptions } from "./output-options.ts";
import { agentOptions, checkWork, limitOptions, workOptions } from "./work-options.ts";

/** `fetchwork agent resume`. */
export const resume: Command = defineCommand({
  summary: "Resume an unfinished run; finished files are not requested again",
  positionals: ["[run]"],
  options: {
    ...outOption,
    ...mcpOption,
    ...modelOptions,
    ...workOptions,
    ...limitOptions,
    ...outputOptions,
  },
  async run({ values, positionals: [named] }, io) {
    checkOutput(values);
    const work = checkWork(values);
    const mcp = mcpServers(values.mcp);
    const { out } = values;
    const folder = resolve(io.cwd, out);
    const last = named === undefined ? await lastRun(folder, out) : undefined;
    if (last?.finished === true) {
      reportComplete(last.runId, values, io);
      return 0;
    }
    const runId = named ?? last?.runId ?? "";
    const options = agentOptions(work, await chooseModel(values, io, { mayAppend: true }));
    return followRun(
      (more) =>
        createAgent({ ...options, ...more, mcp }).resume(runId, {
          out: folder,
          signal: io.signal,
        }),
      { values, named: out },
      io,
    );
  },
});

/** The last unfinished run; where every run is complete, the last one. */
async function lastRun(folder: string, out: string): Promise<RunSummary> {
  const runs = (await listRuns(folder)).filter(({ prompt }) => prompt !== undefined);
  const last = runs.find(({ finished }) => !finished) ?? runs[0];
  if (last !== undefined) return last;
  throw new CommandUsageError(`no unfinished run in ${JSON.stringify(out)}`);
}

/** A process may be killed after its run was complete: then there is nothing left to do. */
function reportComplete(
  runId: string,
  { json, quiet }: { readonly json?: boolean | undefined; readonly quiet?: boolean | undefined },
  io: CommandIo,
): void {
  if (json === true) io.stdout.write(jsonLine({ type: "complete", runId }));
  else if (quiet !== true) io.stderr.write(`the run ${runId} is complete, nothing to resume\n`);
}
