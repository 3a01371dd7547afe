import { HttpUsageError } from "./errors.ts";

/** Checks a time; what is longer than 24.8 days would be taken for 1 ms by timers. */
export function milliseconds(value: unknown, name: string): number {
  return amount(value, name, 2_147_483_647);
}

/** Checks a whole number. */
export function amount(
  value: unknown,
  name: string,
  max: number = Number.MAX_SAFE_INTEGER,
  min: number = 0,
): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw optionError(name, value, `a whole number ${range}`);
}

/** Refuses a value of another type; it is never shown. */
export function checkType(
  value: unknown,
  name: string,
  type: "boolean" | "string" | "function",
): void {
  if (value !== undefined && typeof value !== type) throw optionError(name, value, `a ${type}`);
}

/** Makes the error for a wrong option; texts and objects by type: maybe secrets. */
export function optionError(name: string, value: unknown, expected: string): HttpUsageError {
  const shown =
    typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : value === null
        ? "null"
        : typeof value;
  return new HttpUsageError("ERR_HTTP_OPTION", `option ${name} must be ${expected}, got ${shown}`);
}
