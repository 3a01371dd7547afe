import type { MaybePromise } from "./schemes/signature-scheme.ts";

/** Tells whether there is something to wait for: a promise, of whatever make. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** Calls a function with a value, now when it is there. */
export function chain<T, R>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isThenable(value) ? Promise.resolve(value).then(use) : use(value);
}
