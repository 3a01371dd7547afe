import { AccessToken } from "@fetchwork/oauth2";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { describeProfile, printProfile } from "./describe-profile.ts";
import { clientOf } from "./profile-client.ts";
import { ProfileStore } from "./profile-store.ts";
import { profileNameOf, profileOptions } from "./profile.ts";

/** `fetchwork oauth status`. Sends no request and prints no secret. */
export const status: Command = defineCommand({
  summary: "Show all sign-ins and when they expire",
  options: {
    ...profileOptions,
    json: { type: "boolean", description: "Print a JSON array" },
  },
  async run({ values }, io) {
    const store = new ProfileStore(io);
    const kept =
      values.profile === undefined
        ? await store.list()
        : [await store.require(profileNameOf(values, io))];
    const descriptions = kept.map(({ name, profile, token }) =>
      describeProfile(name, profile, AccessToken.fromHash(clientOf(profile, io), token)),
    );
    if (values.json === true) io.stdout.write(jsonLine(descriptions));
    else for (const description of descriptions) printProfile(description, io);
    if (kept.length === 0) io.stderr.write("Not signed in: run fetchwork oauth login\n");
    const serves = descriptions.some(({ expired, refreshable }) => !expired || refreshable);
    return serves ? 0 : 1;
  },
});
