import type { CommandGroup } from "../command/command.ts";

/** `fetchwork oauth`. */
export const oauthCommands: CommandGroup = {
  summary: "Sign in to an OAuth provider and use its tokens",
  commands: new Map([
    ["login", async () => (await import("./login.ts")).login],
    ["token", async () => (await import("./token.ts")).token],
    ["status", async () => (await import("./status.ts")).status],
    ["refresh", async () => (await import("./refresh.ts")).refresh],
    ["request", async () => (await import("./request.ts")).request],
    ["logout", async () => (await import("./logout.ts")).logout],
  ]),
};
