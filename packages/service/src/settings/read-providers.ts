import { knownProviders, type AccountProvider } from "@fetchwork/rest/accounts/providers";
import { StartError } from "../errors.ts";
import type { Environment } from "./define-config.ts";
import { isThisMachine } from "./setting.ts";

/**
 * Reads the providers: `OIDC_<NAME>_CLIENT_ID`, `OIDC_<NAME>_CLIENT_SECRET`,
 * `OIDC_<NAME>_AUDIENCE`, `OIDC_<NAME>_KEEP_TOKENS`, and `OIDC_<NAME>_ISSUER` but for those that
 * are known by their names.
 *
 * @param publicUrl the default of the audience
 * @throws StartError that names the variable which is missing or cannot serve.
 */
export function readProviders(
  environment: Environment,
  publicUrl: string,
): readonly AccountProvider[] {
  const keys = Object.entries(environment).flatMap(([variable, value]) => {
    const [, key] = /^OIDC_([A-Z\d_]{1,40})_(?:CLIENT_ID|ISSUER)$/.exec(variable) ?? [];
    return key === undefined || !value ? [] : [key];
  });
  return [...new Set(keys)].map((key) => {
    const name = key.toLowerCase().replaceAll("_", "-");
    const issuer = environment[`OIDC_${key}_ISSUER`] || undefined;
    if (issuer !== undefined) checkIssuer(`OIDC_${key}_ISSUER`, issuer);
    else if (!Object.hasOwn(knownProviders, name))
      throw new StartError(`OIDC_${key}_ISSUER is not set`);
    const clientId = environment[`OIDC_${key}_CLIENT_ID`];
    if (!clientId) throw new StartError(`OIDC_${key}_CLIENT_ID is not set`);
    const clientSecret = environment[`OIDC_${key}_CLIENT_SECRET`] || undefined;
    const audience = environment[`OIDC_${key}_AUDIENCE`] || publicUrl;
    const keepsTokens = yesOrNo(`OIDC_${key}_KEEP_TOKENS`, environment);
    return { name, issuer, clientId, clientSecret, audience, keepsTokens };
  });
}

function yesOrNo(variable: string, environment: Environment): boolean {
  const value = environment[variable] || "no";
  if (value === "yes" || value === "no") return value === "yes";
  throw new StartError(`${variable} must be yes or no, got ${JSON.stringify(value)}`);
}

function checkIssuer(variable: string, issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isThisMachine(url.hostname));
  if (!isSafe) throw new StartError(`${variable} must be an https URL`);
}
