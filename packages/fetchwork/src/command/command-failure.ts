/** Details of a {@link CommandFailure}. */
export interface CommandFailureOptions extends ErrorOptions {
  /** From 1 on. */
  readonly exitCode: number;
  /** A line after the message: what the user can do. Default: none. */
  readonly hint?: string | undefined;
}

/** A failure of a command with a specific exit code. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly code = "ERR_FETCHWORK_FAILED";
  /** Exit code of the process, from 1. */
  readonly exitCode: number;
  /** Advice for the user, printed after the message. */
  readonly hint: string | undefined;

  constructor(message: string, { exitCode, hint, ...rest }: CommandFailureOptions) {
    super(message, rest);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
