import type { CommandGroup } from "./command.ts";

/** Everything that `fetchwork` can do. */
export const commands: CommandGroup = {
  summary: "Fetchwork: everything around an HTTP API, at both ends",
  commands: new Map([
    ["agent", async () => (await import("./agent/agent-commands.ts")).agentCommands],
    ["db", async () => (await import("./db/db-commands.ts")).dbCommands],
    ["oauth", async () => (await import("./oauth/oauth-commands.ts")).oauthCommands],
    ["webhooks", async () => (await import("./webhooks/webhook-commands.ts")).webhookCommands],
  ]),
};
