import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { describeProfile, printProfile } from "./describe-profile.ts";
import { keptToken, openProfile } from "./profile-client.ts";
import { profileNameOf, profileOptions } from "./profile.ts";

/** `fetchwork oauth refresh`. */
export const refresh: Command = defineCommand({
  summary: "Refresh the access token, expired or not",
  options: {
    ...profileOptions,
    json: { type: "boolean", description: "Print the sign-in as JSON" },
  },
  async run({ values }, io) {
    const name = profileNameOf(values, io);
    const opened = await openProfile(name, io);
    const refused = keptToken(opened);
    const fresh = await opened.manager.getToken({ refused, signal: io.signal });
    const description = describeProfile(name, opened.profile, fresh);
    if (values.json === true) io.stdout.write(jsonLine(description));
    else printProfile(description, io);
    return 0;
  },
});
