import { AccessToken, type TokenTypeHint } from "@fetchwork/oauth2";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { clientOf } from "./profile-client.ts";
import { ProfileStore, type KeptProfile } from "./profile-store.ts";
import { profileNameOf, profileOptions } from "./profile.ts";

/** `fetchwork oauth logout`. */
export const logout: Command = defineCommand({
  summary: "Revoke the tokens at the provider and delete them here",
  options: {
    ...profileOptions,
    json: { type: "boolean", description: "Print what was done as JSON" },
  },
  async run({ values }, io) {
    const name = profileNameOf(values, io);
    let revoked = false;
    let failure: Error | undefined;
    const removed = await new ProfileStore(io).remove(name, async (kept) => {
      try {
        revoked = await revoke(kept, io);
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    });
    const result = { profile: name, removed, revoked };
    if (values.json === true) io.stdout.write(jsonLine(result));
    else if (!removed) io.stderr.write(`Not signed in as ${name}\n`);
    else io.stderr.write(`Signed out${revoked ? ", tokens revoked" : ""}\n`);
    if (failure === undefined) return 0;
    throw new Error(
      `the tokens were deleted here, but the provider did not revoke them: ${oneLine(failure.message)}`,
      { cause: failure },
    );
  },
});

/** Revokes the tokens: the refresh token first, because it could issue new ones. */
async function revoke({ profile, token: hash }: KeptProfile, io: CommandIo): Promise<boolean> {
  if (profile.metadata.revocation_endpoint === undefined) return false;
  const client = clientOf(profile, io);
  const token = AccessToken.fromHash(client, hash);
  const both: readonly (readonly [string | undefined, TokenTypeHint])[] = [
    [token.refreshToken, "refresh_token"],
    [token.token || undefined, "access_token"],
  ];
  for (const [value, hint] of both) {
    if (value !== undefined) await client.revokeToken(value, hint, { signal: io.signal });
  }
  return true;
}
