import { checkOptions, type KnownOptions } from "@fetchwork/kit";
import { OAuth2UsageError } from "./errors.ts";

/** Every name of an options type, so that the compiler finds one that is missing. */
export type NamesOf<T> = { readonly [Name in keyof Required<T>]: true };

/** Names the options of a function or class. */
export function optionsOf<T>(owner: string, names: NamesOf<T>): KnownOptions {
  return { owner, names: Object.keys(names) };
}

/**
 * Refuses options that do not exist; the message names the one that was probably meant.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkNames(options: unknown, known: KnownOptions): void {
  checkOptions(options, known, (message) => new OAuth2UsageError("ERR_OAUTH_OPTION", message));
}
