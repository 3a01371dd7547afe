/** Makes an object for fields of a request: without prototype, so that any name is only a name. */
export function bareFields(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
