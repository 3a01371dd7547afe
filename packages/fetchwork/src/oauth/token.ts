import { TokenManager } from "@fetchwork/oauth2";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { wholeNumber } from "../command/whole-number.ts";
import { isoTime } from "./describe-profile.ts";
import { clientOf } from "./profile-client.ts";
import { ProfileStore } from "./profile-store.ts";
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
    const minValidity = wholeNumber("min-validity", values["min-validity"], 999_999_999);
    const name = profileNameOf(values, io);
    const store = new ProfileStore(io);
    const kept = await store.require(name);
    const client = clientOf(kept.profile, io);
    const manager = new TokenManager(client, { store: store.tokensOf(kept), key: name });
    const found = await manager.getToken({ minValidity, signal: io.signal });
    const { token: access_token, tokenType: token_type = "Bearer" } = found;
    const expires_at = isoTime(found.expiresAt);
    if (values.json === true) io.stdout.write(jsonLine({ access_token, token_type, expires_at }));
    else io.stdout.write(`${access_token}\n`);
    return 0;
  },
});
