import type { OptionValues } from "../command.ts";
import { UsageError } from "../usage-error.ts";

/** Options of how a run is shown. */
export const outputOptions = {
  debug: {
    type: "string",
    isTruth: true,
    description: "Show the plan, the files and each answer as it came",
  },
  diff: { type: "boolean", description: "Print each change as a diff" },
  json: { type: "boolean", description: "Print events as lines of JSON" },
  quiet: { type: "boolean", short: "q", description: "Print nothing but errors" },
} as const;

/**
 * Checks how a run is shown.
 *
 * @throws UsageError for options that exclude each other
 */
export function checkOutput({ json, quiet }: OptionValues<typeof outputOptions>): void {
  if (json === true && quiet === true) {
    throw new UsageError("--json and --quiet exclude each other");
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
    description: "Folder of the program; nothing in it is deleted",
  },
} as const;
