import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { optionError, OAuth2UsageError } from "./errors.ts";

/**
 * Refuses options that do not exist; the message names the one that was probably meant.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export const checkOptions: OptionCheck = createOptionCheck(
  (message) => new OAuth2UsageError("ERR_OAUTH_OPTION", message),
);

/** Checks the types of options that may be missing; throws as {@link checkOptions} does. */
export function checkTypes(type: "boolean" | "function", options: object): void {
  const expected = type === "boolean" ? "true or false" : "a function";
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined || typeof value === type) continue;
    throw optionError(name, type === "boolean" ? value : typeof value, expected);
  }
}
