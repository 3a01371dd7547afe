// #if oidc
import { StartError } from "./start-error.ts";

/** An OpenID provider that users sign in with. */
export interface Provider {
  /** Its name in paths: `/auth/google`. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string | undefined;
  /** `aud` of access tokens that are for this API. */
  readonly audience: string;
  /** Whether the tokens of users are kept, and a refresh token is asked for. Default: false. */
  readonly keepsTokens?: boolean | undefined;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads the providers: `OIDC_<NAME>_ISSUER`, `OIDC_<NAME>_CLIENT_ID`, `OIDC_<NAME>_CLIENT_SECRET`,
 * `OIDC_<NAME>_AUDIENCE` and `OIDC_<NAME>_KEEP_TOKENS`.
 *
 * @param publicUrl the default of the audience
 * @throws StartError that names the variable which is missing or cannot serve.
 */
export function readProviders(
  environment: NodeJS.ProcessEnv,
  publicUrl: string,
): readonly Provider[] {
  const providers: Provider[] = [];
  for (const [variable, issuer] of Object.entries(environment)) {
    const [, key] = /^OIDC_([A-Z\d_]{1,40})_ISSUER$/.exec(variable) ?? [];
    if (key === undefined || !issuer) continue;
    checkIssuer(variable, issuer);
    const clientId = environment[`OIDC_${key}_CLIENT_ID`];
    if (!clientId) throw new StartError(`OIDC_${key}_CLIENT_ID is not set`);
    const audience = environment[`OIDC_${key}_AUDIENCE`] || publicUrl;
    if (audience === clientId) {
      throw new StartError(`OIDC_${key}_AUDIENCE is the client id, which is that of ID tokens`);
    }
    const name = key.toLowerCase().replaceAll("_", "-");
    const clientSecret = environment[`OIDC_${key}_CLIENT_SECRET`] || undefined;
    const keepsTokens = yesOrNo(`OIDC_${key}_KEEP_TOKENS`, environment);
    providers.push({ name, issuer, clientId, clientSecret, audience, keepsTokens });
  }
  const issuers = new Set(providers.map(({ issuer }) => issuer));
  if (issuers.size < providers.length) throw new StartError("two providers have one issuer");
  return providers;
}

/** Settings may have the slash at the end that the provider has not, and the other way round. */
export function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

function yesOrNo(variable: string, environment: NodeJS.ProcessEnv): boolean {
  const value = environment[variable] || "no";
  if (value === "yes" || value === "no") return value === "yes";
  throw new StartError(`${variable} is ${JSON.stringify(value)}, but must be yes or no`);
}

function checkIssuer(variable: string, issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && loopback.test(url.hostname));
  if (!isSafe) throw new StartError(`${variable} must be an https URL`);
}
// #endif
