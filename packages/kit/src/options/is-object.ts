/** Whether a value is an object and not an array, so that its members can be read by name. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
