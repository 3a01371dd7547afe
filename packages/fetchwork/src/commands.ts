import type { Command, CommandGroup } from "./command/command.ts";

const db: CommandGroup = {
  summary: "Manage a document store: status, migrations, backups",
  commands: new Map([
    ["status", async () => (await import("./db/status.ts")).status],
    ["migrate", async () => (await import("./db/migrate.ts")).migrate],
    ["backup", async () => (await import("./db/backup.ts")).backup],
    ["restore", async () => (await import("./db/restore.ts")).restore],
  ]),
};

const migrate: CommandGroup = {
  summary: "Change models with data: what breaks, migrations in parts, and back",
  commands: new Map([
    ["plan", async () => (await import("./migrate/plan.ts")).plan],
    ["run", async () => (await import("./migrate/run.ts")).run],
    ["undo", async () => (await import("./migrate/run.ts")).undo],
  ]),
};

const oauth: CommandGroup = {
  summary: "Sign in to an OAuth provider and print its tokens",
  commands: new Map([
    ["login", async () => (await import("./oauth/login.ts")).login],
    ["token", async () => (await import("./oauth/token.ts")).token],
    ["logout", async () => (await import("./oauth/logout.ts")).logout],
  ]),
};

const webhooks: CommandGroup = {
  summary: "Receive and send webhooks",
  commands: new Map([
    ["listen", async () => (await import("./webhooks/listen.ts")).listen],
    ["send", async () => (await import("./webhooks/send.ts")).send],
  ]),
};

/** All commands of `fetchwork`. */
export const commands: CommandGroup = {
  summary: "Fetchwork: a self-hosted back end in TypeScript",
  commands: new Map<string, () => Promise<Command | CommandGroup>>([
    ["new", async () => (await import("./new/new.ts")).newCommand],
    ["add", async () => (await import("./add/add.ts")).addCommand],
    ["agent", async () => (await import("./agent/agent-commands.ts")).agentCommands],
    ["db", () => Promise.resolve(db)],
    ["migrate", () => Promise.resolve(migrate)],
    ["oauth", () => Promise.resolve(oauth)],
    ["sandbox", async () => (await import("./agent/sandbox.ts")).sandbox],
    ["verify", async () => (await import("./verify/verify.ts")).verify],
    ["webhooks", () => Promise.resolve(webhooks)],
  ]),
};
