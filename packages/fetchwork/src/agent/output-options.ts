import type { OptionValues } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";

/** Options of how a run is shown. */
export const outputOptions = {
  debug: {
    type: "string",
    isBoolean: true,
    description: "Print the plan, the list of files and each raw response of the model",
  },
  diff: { type: "boolean", description: "Print every change as a diff" },
  json: { type: "boolean", description: "Print events as JSON, one per line" },
  quiet: { type: "boolean", short: "q", description: "Print errors only" },
} as const;

/**
 * Checks how a run is shown.
 *
 * @throws CommandUsageError for options that exclude each other
 */
export function checkOutput({ json, quiet }: OptionValues<typeof outputOptions>): void {
  if (json === true && quiet === true) {
    throw new CommandUsageError("--json and --quiet cannot be combined");
  }
}

/** The folder of the program. */
export const outOption = {
  out: {
    type: "string",
    short: "o",
    hint: "folder",
    default: "generated",
    aliases: ["generate_folder_path", "generate-folder-path"],
    description: "Folder to write the program to; existing files are not deleted",
  },
} as const;
