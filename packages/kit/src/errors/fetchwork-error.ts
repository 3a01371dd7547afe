/**
 * The brand of every error of Fetchwork. It is `Symbol.for("fetchwork.error")`, so errors of
 * packages without imports, and of a second copy of this package, have the same brand.
 */
export const errorBrand: unique symbol = Symbol.for("fetchwork.error") as never;

/** An error of Fetchwork that can occur in a correct program. */
export class FetchworkError extends Error {
  override readonly name: string = "FetchworkError";
  /** Identifies the kind of error. Stable within a major version. */
  readonly code: string;

  static {
    brand(this.prototype);
  }

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A mistake in the program, such as an invalid option. Thrown by the call that contains it. */
export class UsageError extends TypeError {
  override readonly name: string = "UsageError";
  /** Identifies the kind of error. Stable within a major version. */
  readonly code: string;

  static {
    brand(this.prototype);
  }

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a value is an error of Fetchwork, from any package and any copy of it. Never throws. */
export function isFetchworkError(value: unknown): value is Error & { readonly code: string } {
  return value instanceof Error && errorBrand in value;
}

/** Brands a prototype that cannot extend {@link FetchworkError} or {@link UsageError}. */
export function brand(prototype: Error): void {
  Object.defineProperty(prototype, errorBrand, { value: true });
}
