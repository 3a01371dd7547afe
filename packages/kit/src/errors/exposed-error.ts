/** An error that says which response it becomes. */
export interface ExposedError extends Error {
  /** From 400 to 599. */
  readonly status: number;
  /** Its message may be shown to the client. */
  readonly expose: true;
}

/**
 * Whether an error asks to become a response: it has an integer `status` from 400 to 599 and `expose: true`.
 *
 * The errors of this project about bad input do; a user's own error may; the error of an upstream client, which has a
 * `status` too, does not, so that the failure of a call that a handler makes is never mistaken for its response.
 */
export function isExposedError(error: unknown): error is ExposedError {
  if (!(error instanceof Error)) return false;
  const { status, expose } = error as Partial<ExposedError>;
  return expose === true && Number.isInteger(status) && isErrorStatus(status);
}

function isErrorStatus(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status <= 599;
}
