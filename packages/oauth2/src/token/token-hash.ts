import { redactValue } from "../log/redact.ts";
import { processSettings } from "../process-settings.ts";
import { serializedOptions, serializeOptions, type TokenSettings } from "./token-options.ts";

/** A token as {@link AccessToken.toHash} writes it: plain values, ready for JSON. */
export type TokenHash = Record<string, unknown>;

/** The parts of a {@link TokenHash}. */
export interface TokenState {
  readonly token: string;
  readonly refreshToken: string | undefined;
  readonly expiresAt: number | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: TokenSettings;
}

/** Writes a token with its options; leaves out a server's fields that are named like options. */
export function writeTokenHash(state: TokenState): TokenHash {
  const params = Object.entries(state.params).filter(([name]) => !serializedOptions.includes(name));
  return {
    ...Object.fromEntries(params),
    access_token: state.token,
    refresh_token: state.refreshToken ?? null,
    expires_at: state.expiresAt ?? null,
    ...serializeOptions(state.options),
  };
}

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
