import { queryError } from "../api/errors.ts";

const timePattern = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * Checks a time of a caller.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function checkUtcTime(name: string, value: unknown): void {
  if (typeof value === "string" && timePattern.test(value)) return;
  throw queryError(`"${name}" must be a time in ISO 8601, in UTC`);
}
