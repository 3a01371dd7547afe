import { UsageError } from "@fetchwork/kit";

/** An invalid command line. The command prints it with a pointer to the help, and exits with 2. */
export class CommandUsageError extends UsageError {
  override readonly name: string = "CommandUsageError";

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_FETCHWORK_USAGE", message, options);
  }
}

/**
 * Throws what is wrong with a command line.
 *
 * @throws CommandUsageError unless it is `undefined`
 */
export function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new CommandUsageError(fault);
}
