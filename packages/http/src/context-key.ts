/** Identifies a value in a {@link Context} and its type. Equal names: different keys. */
export interface ContextKey<T> {
  /** For diagnostics only. */
  readonly name: string;
  /** Never set; carries the type of the value. */
  readonly type?: T | undefined;
}

/**
 * Creates a key under which middlewares and handlers share a value.
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
