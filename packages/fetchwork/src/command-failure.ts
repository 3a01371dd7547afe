/** What {@link CommandFailure} says besides its message. */
export interface CommandFailureOptions extends ErrorOptions {
  /** From 1 on. */
  readonly exitCode: number;
  /** A line after the message: what the user can do. Default: none. */
  readonly hint?: string | undefined;
}

/** A command failed in a way that has an exit code of its own. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly code = "ERR_FETCHWORK_FAILED";
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, { exitCode, hint, ...rest }: CommandFailureOptions) {
    super(message, rest);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
