import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { isoTime } from "./describe-profile.ts";
import { openProfile } from "./profile-client.ts";
import { profileNameOf, profileOptions } from "./profile.ts";

/** `fetchwork oauth token`. */
export const token: Command = defineCommand({
  summary: "Print a valid access token, refreshing it when needed",
  options: {
    ...profileOptions,
    "min-validity": {
      type: "string",
      hint: "seconds",
      default: "0",
      description: "Minimum remaining lifetime of the token",
    },
    json: { type: "boolean", description: "Print the token, its type and its expiry as JSON" },
  },
  async run({ values }, io) {
    const text = values["min-validity"];
    if (!/^\d{1,9}$/.test(text)) {
      throw new CommandUsageError("--min-validity must be a whole number of seconds");
    }
    const { manager } = await openProfile(profileNameOf(values, io), io);
    const found = await manager.getToken({ minValidity: Number(text), signal: io.signal });
    const { token: access_token, tokenType: token_type = "Bearer" } = found;
    const expires_at = isoTime(found.expiresAt);
    if (values.json === true) io.stdout.write(jsonLine({ access_token, token_type, expires_at }));
    else io.stdout.write(`${access_token}\n`);
    return 0;
  },
});
