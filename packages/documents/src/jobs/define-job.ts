import type { StandardSchema } from "@fetchwork/kit";
import { optionError } from "../api/errors.ts";
import { checkOptions } from "../api/check-options.ts";

/** Options of `defineJob`. */
export interface JobOptions<Input, Parsed = Input> {
  /**
   * Validates the input when the job is queued, and again when it runs, because another release may
   * have queued it. The result is the input of the handler; the queued input is kept as it was.
   * Default: none.
   */
  readonly schema?: StandardSchema<Input, Parsed> | undefined;
  /** How often a failed job is tried again; after that it is dead. From 0. Default: `5`. */
  readonly retries?: number | undefined;
  /** Whether a job that failed with this error is tried again; else it is dead. Default: always. */
  readonly retryIf?: ((error: unknown) => boolean) | undefined;
  /** How long a failed job waits before the next attempt. */
  readonly backoff?: JobBackoff | undefined;
  /**
   * Milliseconds after which an attempt has failed and its signal aborts, from 1; `Infinity` for no
   * limit. Default: `60_000`.
   */
  readonly timeout?: number | undefined;
  /** How many jobs a worker runs at a time, 1 to 1,000. Default: `1`. */
  readonly concurrency?: number | undefined;
  /**
   * Returns the key of an input. Jobs with the same key run one after the other, in the order in
   * which they were queued: none begins before the earlier ones have ended or are dead, in any
   * process. Jobs without a key, or with another one, do not wait for them. Default: no key.
   */
  readonly key?: ((input: Input) => string | undefined) | undefined;
  /**
   * Milliseconds for which jobs are kept that are done or cancelled; while one is kept, its id is
   * not queued again. With `0` a job is removed at once. Default: `86_400_000`, a day.
   */
  readonly keep?: number | undefined;
  /** Milliseconds for which dead jobs are kept. Default: `2_592_000_000`, 30 days. */
  readonly keepDead?: number | undefined;
}

/** A delay that doubles with each failure, times a random number from 0.5 to 1. */
export interface JobBackoff {
  /** Milliseconds after the first failure. Default: `1_000`. */
  readonly baseDelay?: number | undefined;
  /** The maximum in milliseconds. Default: `3_600_000`, an hour. */
  readonly maxDelay?: number | undefined;
  /** How many times longer the delay is after each further failure. Default: `2`. */
  readonly factor?: number | undefined;
}

/** A kind of job. */
export interface JobDefinition<Input, Parsed = Input> {
  /** The name. */
  readonly name: string;
  /** The options, with defaults. */
  readonly options: DefinedOptions<Input, Parsed>;
}

/** The options of a job with defaults. */
export interface DefinedOptions<Input, Parsed> {
  readonly schema: StandardSchema<Input, Parsed> | undefined;
  readonly key: ((input: Input) => string | undefined) | undefined;
  readonly retryIf: ((error: unknown) => boolean) | undefined;
  readonly retries: number;
  readonly backoff: JobBackoff;
  readonly timeout: number;
  readonly concurrency: number;
  readonly keep: number;
  readonly keepDead: number;
}

const namePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const day = 86_400_000;

/**
 * Defines a kind of job; a definition is a plain value that the process that queues and the one
 * that works share.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS` for a name that is not 1 to 64 ASCII
 *   letters, digits, `_`, `.` or `-` after a letter, and for an invalid option.
 * @example
 * ```ts
 * const sendMail = defineJob<{ to: string; subject: string }>("send-mail", {
 *   concurrency: 4,
 *   key: ({ to }) => to,
 * });
 * ```
 */
export function defineJob<Input, Parsed = Input>(
  name: string,
  options: JobOptions<Input, Parsed> = {},
): JobDefinition<Input, Parsed> {
  if (typeof name !== "string" || !namePattern.test(name)) {
    throw optionError(
      'the name of a job must be a letter and up to 63 letters, digits, "_", "." or "-"',
    );
  }
  const fail = (message: string): Error => optionError(`the job "${name}": ${message}`);
  checkOptions("defineJob", options, [
    "schema",
    "retries",
    "retryIf",
    "backoff",
    "timeout",
    "concurrency",
    "key",
    "keep",
    "keepDead",
  ]);
  const {
    retries = 5,
    timeout = 60_000,
    concurrency = 1,
    keep = day,
    keepDead = 30 * day,
  } = options;
  const { schema, key, retryIf, backoff = {} } = options;
  checkOptions("backoff", backoff, ["baseDelay", "maxDelay", "factor"]);
  const check = (isValid: boolean, message: string): void => {
    if (!isValid) throw fail(message);
  };
  check(Number.isSafeInteger(retries) && retries >= 0, '"retries" must be a whole number from 0');
  check(timeout >= 1, '"timeout" must be a number of milliseconds from 1');
  check(
    Number.isSafeInteger(concurrency) && concurrency >= 1 && concurrency <= 1000,
    '"concurrency" must be a whole number from 1 to 1000',
  );
  check(keep >= 0, '"keep" must be a number of milliseconds from 0');
  check(keepDead >= 0, '"keepDead" must be a number of milliseconds from 0');
  for (const [option, value] of Object.entries(backoff)) {
    check(value === undefined || value >= 0, `"backoff.${option}" must be a number from 0`);
  }
  for (const [option, value] of Object.entries({ key, retryIf })) {
    check(value === undefined || typeof value === "function", `"${option}" must be a function`);
  }
  return Object.freeze({
    name,
    options: Object.freeze({
      schema,
      key,
      retryIf,
      retries,
      timeout,
      concurrency,
      keep,
      keepDead,
      backoff,
    }),
  });
}
