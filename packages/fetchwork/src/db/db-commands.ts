import type { CommandGroup } from "../command/command.ts";

/** `fetchwork db`. */
export const dbCommands: CommandGroup = {
  summary: "Manage a document store: status, migrations, backups",
  commands: new Map([
    ["status", async () => (await import("./status.ts")).status],
    ["migrate", async () => (await import("./migrate.ts")).migrate],
    ["backup", async () => (await import("./backup.ts")).backup],
    ["restore", async () => (await import("./restore.ts")).restore],
  ]),
};
