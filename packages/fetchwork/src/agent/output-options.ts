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
