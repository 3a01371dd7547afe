export { CommandFailure } from "./command/command-failure.ts";
export type { CommandIo, CommandOutput } from "./command/command-io.ts";
export type {
  Command,
  CommandGroup,
  CommandOption,
  CommandOptions,
  OptionValues,
} from "./command/command.ts";
export { commands } from "./commands.ts";
export type { DocumentChange, DocumentMigration, MigratedFields } from "@fetchwork/service";
export { exitCodes } from "./command/exit-codes.ts";
export { runCommand } from "./command/run-command.ts";
export { CommandUsageError } from "./command/usage-error.ts";
