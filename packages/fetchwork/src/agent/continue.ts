import { listRuns } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { editOptions, editProgram } from "./edit.ts";
import { programFolder } from "./program-folder.ts";
import { toRunFailure } from "./run-failure.ts";

/** `fetchwork agent continue`. */
export const continueRun: Command = defineCommand({
  summary: "Ask for more in the conversation of an earlier run",
  positionals: ["folder", "[request]"],
  options: {
    ...editOptions,
    run: { type: "string", hint: "id", description: "Run to continue (default: the last one)" },
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    try {
      const runs = await listRuns(programFolder(named, io));
      const continues = values.run ?? runs.find(({ finished }) => finished)?.runId;
      if (continues === undefined) {
        throw new CommandUsageError(`no complete run in ${JSON.stringify(named)}`);
      }
      return await editProgram(values, { named, argument, continues }, io);
    } catch (error) {
      throw toRunFailure(error, values, io);
    }
  },
});
