import { HttpUsageError } from "../errors.ts";

/** @throws HttpUsageError `ERR_HTTP_HANDLER` when the value is not a function */
export function checkFunction(value: unknown, what: string): void {
  if (typeof value === "function") return;
  throw new HttpUsageError("ERR_HTTP_HANDLER", `${what} must be a function, got ${typeof value}`);
}
