/**
 * Describes a value in the message of an error: text in quotation marks and cut after 100 characters, numbers and
 * Booleans as they are, anything else by its kind. Not for values that may be secret.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`.slice(0, 100);
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
