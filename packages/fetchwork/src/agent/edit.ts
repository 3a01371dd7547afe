import { resolve } from "node:path";
import { createAgent, listRuns } from "@fetchwork/agent";
import { defineCommand, type Command, type OptionValues } from "../command/command.ts";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { askAboutChanges } from "./ask-changes.ts";
import { followRun } from "./follow-run.ts";
import { mcpOption, mcpServers } from "./mcp-option.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { checkOutput, outputOptions } from "./output-options.ts";
import { programFolder } from "./program-folder.ts";
import { promptOption, requirePrompt } from "./read-prompt.ts";
import { agentOptions, checkWork, editWorkOptions, limitOptions } from "./work-options.ts";

/** Options of what changes a program. */
const editOptions = {
  ...promptOption,
  "dry-run": { type: "boolean", description: "Print what would be written without writing it" },
  ask: {
    type: "boolean",
    description: "Ask about each change; then protected files may be changed, too",
  },
  image: {
    type: "string",
    hint: "file",
    multiple: true,
    description: "Picture to show to the model; may be repeated",
  },
  dirty: { type: "boolean", description: "Also with changes that git has not committed" },
  commit: {
    type: "boolean",
    description: "Commit the files of a run without new errors; runs the hooks of your git",
  },
  ...mcpOption,
  ...modelOptions,
  ...editWorkOptions,
  ...limitOptions,
  ...outputOptions,
} as const;

/** `fetchwork agent edit`. */
export const edit: Command = defineCommand({
  summary: "Change an existing program: all edits or none",
  positionals: ["folder", "[request]"],
  options: editOptions,
  async run({ values, positionals: [named = "", argument] }, io) {
    return editProgram(values, { named, argument }, io);
  },
});

/** `fetchwork agent continue`. */
export const continueRun: Command = defineCommand({
  summary: "Ask for more in the conversation of an earlier run",
  positionals: ["folder", "[request]"],
  options: {
    ...editOptions,
    run: { type: "string", hint: "id", description: "Run to continue (default: the last one)" },
  },
  async run({ values, positionals: [named = "", argument] }, io) {
    const runs = await listRuns(programFolder(named, io));
    const continues = values.run ?? runs.find(({ finished }) => finished)?.runId;
    if (continues === undefined) {
      throw new CommandUsageError(`no complete run in ${JSON.stringify(named)}`);
    }
    return editProgram(values, { named, argument, continues }, io);
  },
});

/** Target of an edit. */
interface EditTarget {
  /** The folder, as it was typed. */
  readonly named: string;
  readonly argument: string | undefined;
  /** The run whose conversation goes on. Default: none. */
  readonly continues?: string | undefined;
}

/** Changes a program, shows how, and resolves to the exit code. */
async function editProgram(
  values: OptionValues<typeof editOptions>,
  { named, argument, continues }: EditTarget,
  io: CommandIo,
): Promise<number> {
  checkOutput(values);
  const work = checkWork(values);
  const mcp = mcpServers(values.mcp);
  const folder = programFolder(named, io);
  const ask = values.ask === true ? askAboutChanges(io) : undefined;
  const request = await requirePrompt("request", argument, values, io);
  const chosen = await chooseModel(values, io, { run: { prompt: request } });
  const options = { ...agentOptions(work, chosen), allowProtected: values.ask, mcp };
  const dryRun = values["dry-run"] === true;
  return followRun(
    (more) =>
      createAgent({ ...options, ...more }).edit({
        request,
        out: folder,
        continues,
        images: values.image?.map((path) => resolve(io.cwd, path)),
        dryRun,
        dirty: values.dirty,
        commit: values.commit,
        signal: io.signal,
      }),
    // An edit was made for the current files, so there is nothing to merge.
    { values, named, dryRun, ask, onConflict: "overwrite" },
    io,
  );
}
