import { createOptionCheck, describeValue, type OptionCheck } from "@fetchwork/kit/options";
import { MiddlewareError } from "./errors.ts";

// RFC 9110, 5.6.2 and 5.5: a token; and visible characters, so that no value starts another header.
const tokenPattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
// oxlint-disable-next-line no-control-regex
const valuePattern = /^[^\0-\x08\x0a-\x1f\x7f\u0100-\uffff]*$/;

// Every check of this file throws a MiddlewareError `ERR_MIDDLEWARE_OPTION`.
function invalidOption(message: string): MiddlewareError {
  return new MiddlewareError("ERR_MIDDLEWARE_OPTION", message);
}

const checkNames = createOptionCheck(invalidOption);

/**
 * Refuses unknown options, and any argument that is not an object: also a handler, from
 * `wrap(handler, cors)` without the call.
 */
export const checkOptions: OptionCheck = (owner, options, names) => {
  checkCalled(owner, options);
  checkNames(owner, options, names);
};

/** Refuses the handler that `wrap` passes to a factory which was not called. */
export function checkCalled(owner: string, argument: unknown): void {
  if (typeof argument !== "function") return;
  throw invalidOption(
    `the options of ${owner} are a function; in wrap(), write ${owner}() and not ${owner}`,
  );
}

/** Refuses arguments of a factory that has none. */
export function checkNoOptions(owner: string, args: readonly unknown[]): void {
  if (args.length === 0) return;
  checkCalled(owner, args[0]);
  throw invalidOption(`${owner} has no options`);
}

/**
 * Refuses what is not a handler, at the first request of `wrap(handler, owner)` without the call: a
 * factory whose first argument may be a function cannot distinguish it from a handler before.
 */
export function checkNext(owner: string, next: unknown): void {
  if (typeof next === "function") return;
  throw invalidOption(`${owner} was not called; in wrap(), write ${owner}(...) and not ${owner}`);
}

/** Checks that an option is a function. */
export function checkFunction(value: unknown, what: string): void {
  if (typeof value === "function") return;
  throw optionError(what, value, "a function");
}

/** Maximum milliseconds of a timer. Node and browsers treat a longer time as 1 ms. */
export const longestTimer = 2_147_483_647;

/** Checks that an option is true or false, so that `"false"` does not enable anything. */
export function checkFlag(value: unknown, what: string): void {
  if (typeof value !== "boolean") throw optionError(what, value, "true or false");
}

/** Checks that an option is a list. */
export function checkList(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw optionError(what, value, "a list");
}

/** Checks that an option is a list of texts. */
export function checkTexts(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw optionError(what, value, "a list of texts");
  for (const entry of value as readonly unknown[]) {
    if (typeof entry !== "string") throw optionError(what, entry, "text");
  }
}

/** Checks that an option is a whole number of at least `min`, or `Infinity`. */
export function checkAmount(value: unknown, what: string, min: number): void {
  if (typeof value === "number" && value >= min && (Number.isInteger(value) || value === Infinity))
    return;
  throw optionError(what, value, `a whole number of at least ${min}`);
}

/** Checks that an option can be the value of a header. */
export function checkHeaderValue(value: unknown, what: string): void {
  if (typeof value === "string" && valuePattern.test(value)) return;
  throw optionError(what, value, "text without line breaks, controls and characters above U+00FF");
}

/** Checks that an option can be the name of a header. */
export function checkHeaderName(value: unknown, what: string): void {
  if (typeof value === "string" && tokenPattern.test(value)) return;
  throw optionError(what, value, "the name of a header");
}

/** The error for an option that is not what was expected. */
export function optionError(what: string, value: unknown, expected: string): MiddlewareError {
  return invalidOption(`${what} must be ${expected}, got ${describeValue(value)}`);
}
