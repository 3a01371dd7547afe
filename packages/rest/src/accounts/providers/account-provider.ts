import type { ProviderOptions, ProviderPreset } from "@fetchwork/oauth2/sign-in";
import { RestError } from "../../errors.ts";

/**
 * A provider that users sign in with: its credentials, and the options of an `OidcClient`. Without
 * `preset` and `issuer` it is the one of {@link knownProviders} that has its name.
 */
export interface AccountProvider extends Omit<ProviderOptions, "redirectUri"> {
  /** Name in paths: `google` in `/auth/google`; `a-z`, digits, hyphens, at most 40. */
  readonly name: string;
  /** The provider, such as `providers.google` of `@fetchwork/oauth2/sign-in`. */
  readonly preset?: ProviderPreset | undefined;
  /** Issuer of a provider that follows OpenID Connect, in place of `preset`. Default: see above. */
  readonly issuer?: string | undefined;
  /**
   * Audience of access tokens that are for this API (RFC 9068); must not be `clientId`, which is
   * that of ID tokens. Default: access tokens of the provider are refused.
   */
  readonly audience?: string | undefined;
  /** Whether users' tokens are kept, sealed, and refresh tokens requested. Default: `false`. */
  readonly keepsTokens?: boolean | undefined;
}

/** Options of the sign-in with providers. */
export interface ProviderSignInOptions {
  /** Without any, there are no routes. */
  readonly providers: readonly AccountProvider[];
  /** Origin of the API, such as `https://example.com`: `origin` of the accounts. */
  readonly origin: string;
  /** Seals sign-in state and stored tokens. From 32 characters. A new one loses kept tokens. */
  readonly secret: string;
  /** Origins that browsers may return to, in addition to `origin`. Default: none. */
  readonly origins?: readonly string[] | undefined;
}

/** Names and issuers of the providers that need neither `preset` nor `issuer`. */
export const knownProviders: Readonly<Record<string, string>> = {
  apple: "https://appleid.apple.com",
  discord: "https://discord.com",
  github: "https://github.com/login/oauth",
  gitlab: "https://gitlab.com",
  google: "https://accounts.google.com",
  microsoft: "https://login.microsoftonline.com/{tenantid}/v2.0",
  slack: "https://slack.com",
};

/**
 * Checks what can be checked before `@fetchwork/oauth2` is loaded.
 *
 * @throws RestError `ERR_REST_CONFIGURATION`
 */
export function checkProviders(providers: readonly AccountProvider[]): void {
  for (const provider of providers) {
    const { audience, clientId, issuer, name, preset } = provider;
    if (!/^[a-z\d][a-z\d-]{0,39}$/.test(name))
      throw refused(`invalid name of a provider ${JSON.stringify(name)}: expected one like google`);
    if (preset !== undefined && issuer !== undefined)
      throw refused(`the provider ${name} has a preset and an issuer, expected one of them`);
    if (preset === undefined && issuer === undefined && !Object.hasOwn(knownProviders, name)) {
      const known = Object.keys(knownProviders).join(", ");
      throw refused(`the provider ${name} has neither preset nor issuer, nor a name of ${known}`);
    }
    if (typeof clientId !== "string" || clientId === "")
      throw refused(`the provider ${name} has no clientId`);
    if (audience === clientId)
      throw refused(`the audience of ${name} is its clientId, which is that of ID tokens`);
  }
  for (const values of [providers.map(({ name }) => name), providers.map(issuerOf)])
    if (new Set(values).size < values.length)
      throw refused("two providers have one name or issuer");
}

/** Whether a user of this issuer is one of the provider. */
export function isOf(provider: AccountProvider, issuer: string): boolean {
  const [before = "", after] = issuerOf(provider).split("{tenantid}");
  const given = withoutSlash(issuer);
  return after === undefined
    ? given === before
    : given.startsWith(before) &&
        given.endsWith(after) &&
        !given.slice(before.length, -after.length).includes("/");
}

function issuerOf({ issuer, name, preset }: AccountProvider): string {
  return withoutSlash(
    preset?.expectedIssuer ?? preset?.issuer ?? issuer ?? knownProviders[name] ?? "",
  );
}

/** Settings may have the slash at the end that the provider has not, and the other way round. */
function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

function refused(message: string): RestError {
  return new RestError("ERR_REST_CONFIGURATION", message);
}
