/**
 * Marks every error of Fetchwork. Its value is `Symbol.for("fetchwork.error")`, so that a package without imports, or a
 * second copy of this one, carries the same mark.
 */
export const errorBrand: unique symbol = Symbol.for("fetchwork.error") as never;

/** An error of Fetchwork: something went wrong while a program ran. */
export class FetchworkError extends Error {
  override readonly name: string = "FetchworkError";
  /** Stable within a major version; what to test for. */
  readonly code: string;

  static {
    brand(this.prototype);
  }

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A call that can never work, such as one with an invalid option. Thrown where the mistake is made. */
export class UsageError extends TypeError {
  override readonly name: string = "UsageError";
  /** Stable within a major version; what to test for. */
  readonly code: string;

  static {
    brand(this.prototype);
  }

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a value is an error of Fetchwork, of any package and any copy of it. Reads no getter that can throw. */
export function isFetchworkError(value: unknown): value is Error & { readonly code: string } {
  return value instanceof Error && errorBrand in value;
}

/** Puts the mark on a prototype, for errors that cannot extend {@link FetchworkError} or {@link UsageError}. */
export function brand(prototype: Error): void {
  Object.defineProperty(prototype, errorBrand, { value: true });
}
