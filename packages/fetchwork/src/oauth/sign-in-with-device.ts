import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { clientOf } from "./profile-client.ts";
import type { Profile } from "./profile.ts";
import type { SignedIn, SignInWait } from "./sign-in-with-browser.ts";

/** Signs in on another device, where the user types a code (RFC 8628). */
export async function signInWithDevice(
  profile: Profile,
  io: CommandIo,
  { request, signal }: SignInWait,
): Promise<SignedIn> {
  if (profile.metadata.device_authorization_endpoint === undefined) {
    throw new CommandUsageError("the provider does not support the device flow");
  }
  const client = clientOf(profile, io);
  const authorization = await client.device.start(request, { signal });
  const { verificationUri, verificationUriComplete, userCode } = authorization;
  const shortcut =
    verificationUriComplete === undefined ? "" : `Or at once:\n\n  ${verificationUriComplete}\n\n`;
  io.stderr.write(
    `Go to\n\n  ${verificationUri}\n\nand enter the code\n\n  ${userCode}\n\n${shortcut}`,
  );
  const { resource } = request;
  const token = await client.device.poll(authorization, { signal, params: { resource } });
  return { client, token };
}
