import { checkOptions, type KnownOptions } from "@fetchwork/kit";
import { RestError, type RestErrorCode } from "./errors.ts";

/** Names the options of a type; the compiler asks for each of them. */
export function optionNames<Options extends object>(
  names: Readonly<Record<keyof Options & string, true>>,
): readonly string[] {
  return Object.keys(names);
}

/**
 * Refuses options that do not exist.
 *
 * @param code - Default: `ERR_REST_DEFINITION`.
 * @throws RestError that names the option which was probably meant.
 */
export function refuseUnknownOptions(
  options: unknown,
  known: KnownOptions,
  code: RestErrorCode = "ERR_REST_DEFINITION",
): void {
  checkOptions(options, known, (message) => new RestError(code, message));
}
