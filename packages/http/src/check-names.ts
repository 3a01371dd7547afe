import { checkOptions } from "@fetchwork/kit";
import { HttpUsageError } from "./errors.ts";

/** Names of the options of a function, and what other libraries call them. */
export interface OptionNames<Options> {
  /** Who takes the options, for the message: `serve`, `Client`. */
  readonly owner: string;
  /** All options; complete by its type. */
  readonly names: Readonly<Record<keyof Options, true>>;
  /** Names of Express, Fastify, got, axios, ky and undici, and what they are called here. */
  readonly otherNames?: Readonly<Record<string, keyof Options & string>>;
  /** Options of another argument, and what to say of them: `timeout of the second argument`. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/**
 * Makes a check that rejects options with other names, so that a misspelt one is never ignored.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`, from the check
 */
export function nameCheck<Options>(known: OptionNames<Options>): (options: unknown) => void {
  const { owner } = known;
  const otherNames = { ...known.elsewhere, ...known.otherNames };
  const names = Object.keys(known.names);
  return (options) =>
    checkOptions(
      options,
      { owner, names, otherNames },
      (message) => new HttpUsageError("ERR_HTTP_OPTION", message),
    );
}
