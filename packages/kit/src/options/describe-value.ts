/**
 * Describes a value for the message of an error: a text in quotation marks, truncated after 100 characters; numbers and
 * Booleans as they are; anything else by its type. Do not use it for values that may be secret.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`.slice(0, 100);
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
