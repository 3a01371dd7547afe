import type { CommandGroup } from "../command/command.ts";

/** `fetchwork webhooks`. */
export const webhookCommands: CommandGroup = {
  summary: "Receive, send and replay webhooks",
  commands: new Map([
    ["listen", async () => (await import("./listen.ts")).listen],
    ["send", async () => (await import("./send-file.ts")).sendFile],
    ["replay", async () => (await import("./replay.ts")).replay],
  ]),
};
