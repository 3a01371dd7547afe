import { redactValue } from "../log/redact.ts";
import { processSettings } from "../process-settings.ts";

/** A token as {@link AccessToken.toHash} writes it: plain values, ready for JSON. */
export type TokenHash = Record<string, unknown>;

/** Returns the object without its secrets. */
export function showTokenHash({ access_token, refresh_token, ...rest }: TokenHash): unknown {
  const known = [access_token, refresh_token].filter((value) => typeof value === "string");
  return {
    ...Object(redactValue(rest, known)),
    access_token: hidden(access_token),
    refresh_token: hidden(refresh_token),
  };
}

function hidden(value: unknown): unknown {
  return value === "" || value === null ? value : processSettings().filteredLabel;
}
