import type { CommandGroup } from "../command/command.ts";

/** `fetchwork oauth`. */
export const oauthCommands: CommandGroup = {
  summary: "Sign in to an OAuth provider and print its tokens",
  commands: new Map([
    ["login", async () => (await import("./login.ts")).login],
    ["token", async () => (await import("./token.ts")).token],
    ["logout", async () => (await import("./logout.ts")).logout],
  ]),
};
