import { optionError } from "../errors.ts";

/** Where a token is sent: header (RFC 6750, 2.1), form field of the body (2.2) or query (2.3). */
export type SendMode = "header" | "body" | "query";

/** A {@link SendMode}, a map from verbs (`get`, `post`; default `header`), or a function. */
export type SendModeOption =
  SendMode | ((verb: string) => SendMode) | { readonly [verb: string]: SendMode };

/**
 * Checks a mode.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkSendMode(mode: unknown): asserts mode is SendModeOption {
  if (typeof mode === "function") return;
  const modes = typeof mode === "object" && mode !== null ? Object.values(mode) : [mode];
  for (const value of modes) checkMode(value);
}

/** Returns the mode for a verb, in lower case. */
export function sendModeFor(mode: SendModeOption, verb: string): SendMode {
  if (typeof mode === "string") return mode;
  if (typeof mode === "function") {
    const chosen = mode(verb);
    checkMode(chosen);
    return chosen;
  }
  return Object.hasOwn(mode, verb) ? (mode[verb] ?? "header") : "header";
}

function checkMode(mode: unknown): asserts mode is SendMode {
  if (mode !== "header" && mode !== "body" && mode !== "query") {
    const expected = "header, body or query, a map of verbs to these, or a function";
    throw optionError("mode", mode, expected);
  }
}
