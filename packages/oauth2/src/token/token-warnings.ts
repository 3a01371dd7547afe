import type { OAuth2Client } from "../client/client.ts";
import { settings } from "../compat/settings.ts";

/** Warns, unless that is silenced, that an answer has several fields that may be the token. */
export function warnExtra(
  client: OAuth2Client,
  found: readonly string[],
  used: string | undefined,
): void {
  if (settings().silenceExtraTokensWarning || found.length < 2) return;
  client.warn(
    `OAuth2: the answer has several fields that may be the token (${found.join(", ")}); ${used ?? "none"} is used, tokenName chooses another`,
  );
}

/** Warns, unless that is silenced, that an answer has no token. Names of fields are shown, values never. */
export function warnMissing(
  client: OAuth2Client,
  names: readonly string[],
  tokenName: string | undefined,
): void {
  if (settings().silenceNoTokensWarning) return;
  const sought = tokenName === undefined ? "no token" : `no field ${JSON.stringify(tokenName)}`;
  const hint = tokenName === undefined ? "" : "; keys became snake case unless snaky is false";
  client.warn(`OAuth2: the answer has ${sought} among ${JSON.stringify(names)}${hint}`);
}
