/** Makes an object for fields of a request: without prototype, so that no name means more than itself. */
export function bareFields(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
