import type { CommandGroup } from "../command/command.ts";

/** `fetchwork migrate`. */
export const migrateCommands: CommandGroup = {
  summary: "Change models with data: what breaks, migrations in parts, and back",
  commands: new Map([
    ["plan", async () => (await import("./plan.ts")).plan],
    ["run", async () => (await import("./run.ts")).run],
    ["undo", async () => (await import("./undo.ts")).undo],
  ]),
};
