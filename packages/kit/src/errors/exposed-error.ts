/** An error with the status of the response that it becomes. */
export interface ExposedError extends Error {
  /** An integer from 400 to 599. */
  readonly status: number;
  /** The client may read its message. */
  readonly expose: true;
}

/**
 * Whether an error becomes a response with its own status: it has an integer `status` from 400 to
 * 599 and `expose: true`.
 *
 * Errors of this project about invalid input have both, and an application's own errors may have
 * them. An error of an HTTP client has a `status` but no `expose`. So a failed call to another
 * server never decides a handler's response.
 */
export function isExposedError(error: unknown): error is ExposedError {
  if (!(error instanceof Error)) return false;
  const { status, expose } = error as Partial<ExposedError>;
  return expose === true && Number.isInteger(status) && isErrorStatus(status);
}

function isErrorStatus(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status <= 599;
}
