import type { CommandGroup } from "../command/command.ts";

/** `fetchwork webhooks`. */
export const webhookCommands: CommandGroup = {
  summary: "Receive and send webhooks",
  commands: new Map([
    ["listen", async () => (await import("./listen.ts")).listen],
    ["send", async () => (await import("./send.ts")).send],
  ]),
};
