/** Names a value in a {@link Context} and fixes its type. Two keys of the same name are different keys. */
export interface ContextKey<T> {
  /** Appears in diagnostics only. */
  readonly name: string;
  /** Never set; carries the type of the value. */
  readonly type?: T | undefined;
}

/**
 * Makes a key under which middlewares and handlers share a value of a user's own.
 *
 * @example
 * ```ts
 * const tenantKey = createContextKey<string>("tenant");
 * context.set(tenantKey, "acme");
 * context.get(tenantKey); // string | undefined
 * ```
 */
export function createContextKey<T>(name: string): ContextKey<T> {
  return Object.freeze({ name });
}
