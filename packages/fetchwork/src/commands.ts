import type { Command, CommandGroup } from "./command/command.ts";

/** All commands of `fetchwork`. */
export const commands: CommandGroup = {
  summary: "Fetchwork: everything around an HTTP API, at both ends",
  commands: new Map<string, () => Promise<Command | CommandGroup>>([
    ["new", async () => (await import("./new/new.ts")).newCommand],
    ["add", async () => (await import("./add/add.ts")).addCommand],
    ["agent", async () => (await import("./agent/agent-commands.ts")).agentCommands],
    ["db", async () => (await import("./db/db-commands.ts")).dbCommands],
    ["migrate", async () => (await import("./migrate/migrate-commands.ts")).migrateCommands],
    ["oauth", async () => (await import("./oauth/oauth-commands.ts")).oauthCommands],
    ["sandbox", async () => (await import("./agent/sandbox.ts")).sandbox],
    ["verify", async () => (await import("./verify/verify.ts")).verify],
    ["webhooks", async () => (await import("./webhooks/webhook-commands.ts")).webhookCommands],
  ]),
};
