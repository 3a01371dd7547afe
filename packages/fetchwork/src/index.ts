export { CommandFailure, type CommandFailureOptions } from "./command-failure.ts";
export type { CommandIo, CommandOutput } from "./command-io.ts";
export type {
  Command,
  CommandGroup,
  CommandInput,
  CommandOption,
  CommandOptions,
  OptionValues,
} from "./command.ts";
export { commands } from "./commands.ts";
export { exitCodes } from "./exit-codes.ts";
export { runCommand } from "./run-command.ts";
export { UsageError } from "./usage-error.ts";
