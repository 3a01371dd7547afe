/** The command line makes no sense; the command exits 2 and prints the message with a line on how to get help. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
  readonly code = "ERR_FETCHWORK_USAGE";
}
