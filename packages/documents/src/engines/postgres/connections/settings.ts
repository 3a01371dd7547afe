import { optionError } from "../../../api/errors.ts";
import type { PostgresOptions } from "../../../api/postgres-options.ts";
import { checkOptions } from "../../../api/check-options.ts";

/** {@link PostgresOptions} with their defaults. */
export interface PostgresSettings {
  readonly poolSize: number;
  readonly connectTimeout: number;
  readonly failoverTimeout: number;
  readonly statementTimeout: number;
  readonly distributed: boolean | undefined;
  readonly prepare: boolean;
}

const maxTimeout = 0x7fff_ffff;

/**
 * Checks the options and sets their defaults.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parsePostgresOptions(
  options: PostgresOptions = {},
  { hosts }: { readonly hosts: readonly unknown[] } = { hosts: [] },
): PostgresSettings {
  checkOptions("postgres", options, [
    "poolSize",
    "connectTimeout",
    "failoverTimeout",
    "statementTimeout",
    "distributed",
    "prepare",
  ]);
  const {
    poolSize = 10,
    connectTimeout = 5000,
    // One server that is away comes back by itself or not at all; of several another one takes
    // over.
    failoverTimeout = hosts.length > 1 ? 30_000 : 5000,
    statementTimeout = 30_000,
    distributed,
    prepare = true,
  } = options;
  if (typeof prepare !== "boolean") throw optionError('"prepare" must be true or false');
  if (distributed !== undefined && typeof distributed !== "boolean") {
    throw optionError('"distributed" must be true or false');
  }
  return {
    poolSize: wholeNumber("poolSize", poolSize, { min: 2, max: 1000 }),
    connectTimeout: wholeNumber("connectTimeout", connectTimeout, { min: 1, max: maxTimeout }),
    failoverTimeout: wholeNumber("failoverTimeout", failoverTimeout, {
      min: 0,
      max: maxTimeout,
    }),
    statementTimeout: wholeNumber("statementTimeout", statementTimeout, {
      min: 1,
      max: maxTimeout,
    }),
    distributed,
    prepare,
  };
}

function wholeNumber(
  name: string,
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw optionError(`"${name}" must be a whole number from ${min} to ${max}`);
}
