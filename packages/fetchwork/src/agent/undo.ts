import { undoRun } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { programFolder } from "./program-folder.ts";

/** `fetchwork agent undo`. */
export const undo: Command = defineCommand({
  summary: "Put back what the last edit changed",
  positionals: ["[folder]"],
  options: {
    run: { type: "string", hint: "id", description: "Run to undo (default: the last one)" },
    force: { type: "boolean", description: "Also put back files that were changed since" },
    "dry-run": { type: "boolean", description: "Print what would be put back without doing it" },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  async run({ values, positionals: [named = "."] }, io) {
    const { green, dim } = colours(io.stdout);
    const result = await undoRun({
      out: programFolder(named, io),
      runId: values.run,
      force: values.force,
      dryRun: values["dry-run"],
    });
    if (values.json === true) {
      io.stdout.write(jsonLine(result));
      return 0;
    }
    for (const { path, action } of result.files) {
      const note = result.conflicts.includes(path) ? dim(" (changed since)") : "";
      io.stdout.write(`${green(action.padEnd(9))}  ${oneLine(path, 500)}${note}\n`);
    }
    return 0;
  },
});
