import type { AccessToken } from "@fetchwork/oauth2";
import type { OidcClient } from "@fetchwork/oauth2/oidc";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { wholeNumber } from "../command/whole-number.ts";
import { printProfile, type ProfileUser } from "./describe-profile.ts";
import { ProfileStore } from "./profile-store.ts";
import { profileNameOf, profileOptions } from "./profile.ts";
import { profileOf, providerOptions } from "./provider-options.ts";
import { redirectTargetOf } from "./redirect-target.ts";
import { signInWithBrowser } from "./sign-in-with-browser.ts";
import { signInWithDevice } from "./sign-in-with-device.ts";

/** `fetchwork oauth login`. */
export const login: Command = defineCommand({
  summary: "Sign in with the browser or on another device",
  options: {
    ...providerOptions,
    scope: {
      type: "string",
      hint: "scopes",
      description:
        "Scopes, separated by spaces (default: openid for an OpenID provider, otherwise none)",
    },
    device: { type: "boolean", description: "Sign in on another device by entering a code" },
    "no-browser": { type: "boolean", description: "Print the URL instead of opening it" },
    "redirect-uri": {
      type: "string",
      hint: "url",
      default: "http://127.0.0.1/callback",
      description: "URL on this machine that the browser returns to (default port: any free one)",
    },
    timeout: {
      type: "string",
      hint: "seconds",
      default: "300",
      description: "Maximum time to wait for the user",
    },
    ...profileOptions,
    json: { type: "boolean", description: "Print the sign-in as JSON" },
  },
  async run({ values }, io) {
    const name = profileNameOf(values, io);
    const redirect = redirectTargetOf(values["redirect-uri"]);
    const seconds = wholeNumber("timeout", values.timeout, 86_400, 1);
    const late = AbortSignal.timeout(seconds * 1000);
    const signal = AbortSignal.any([io.signal, late]);
    try {
      const profile = await profileOf(values, io, signal);
      const { resource } = profile;
      const request = { scope: scopeOf(values.scope, values.discovery === "oidc"), resource };
      const wait = { request, signal, seconds };
      const signedIn =
        values.device === true
          ? await signInWithDevice(profile, io, wait)
          : await signInWithBrowser(profile, io, {
              ...wait,
              redirect,
              opens: values["no-browser"] !== true,
            });
      const { client, token } = signedIn;
      const user = await userOf(client, token, io);
      await new ProfileStore(io).write({ name, profile, token: token.toHash() });
      const asJson = values.json === true;
      printProfile({ name, profile }, token, user, { asJson, stdout: io.stdout });
      return 0;
    } catch (error) {
      if (!late.aborted || io.signal.aborted) throw error;
      throw new Error(`the sign-in timed out after ${seconds} s`, { cause: error });
    }
  },
});

function scopeOf(given: string | undefined, knowsOpenId: boolean): string | undefined {
  if (given === undefined) return knowsOpenId ? "openid" : undefined;
  // RFC 6749, 3.3.
  if (/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(given)) return given;
  throw new CommandUsageError("--scope must be a list of scopes separated by single spaces");
}

/** The user of the ID token; names that it does not have are asked for. */
async function userOf(
  client: OidcClient,
  token: AccessToken,
  { stderr, signal }: CommandIo,
): Promise<ProfileUser | undefined> {
  const claims = client.claims(token);
  if (claims === undefined) return undefined;
  const { sub } = claims;
  const own = { name: textOf(claims["name"]), email: textOf(claims["email"]) };
  const isKnown = own.name !== undefined || own.email !== undefined;
  if (isKnown || client.metadata.userinfo_endpoint === undefined) return { sub, ...own };
  if (!/\b(?:profile|email)\b/.test(token.scope ?? "")) return { sub };
  try {
    const { name, email } = await client.userInfo(token, { signal });
    return { sub, name: textOf(name), email: textOf(email) };
  } catch (error) {
    // Signed in all the same; only its name is not known.
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`The provider returned no user information: ${oneLine(reason)}\n`);
    return { sub };
  }
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}
