import type { parseArgs, ParseArgsOptionDescriptor } from "node:util";
import type { CommandIo } from "./command-io.ts";

/** An option of a command, as Node's `parseArgs` takes it, and what the help says of it. */
export interface CommandOption extends ParseArgsOptionDescriptor {
  readonly description: string;
  /** What stands for the value in the help. Default: `value`. */
  readonly hint?: string;
  /** Other long names of it, which the help does not list. Default: none. */
  readonly aliases?: readonly string[];
  /**
   * Whether it is true or false: `--x`, `--x true`, `--x=no`, `--no-x`. Its type is `string`, its value then `true` or
   * `false`. Default: no.
   */
  readonly isTruth?: true;
}

/** Options by their long name. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The values of a command's options, typed by their definitions. */
export type OptionValues<O extends CommandOptions> = ReturnType<
  typeof parseArgs<{ options: O; strict: true; allowPositionals: true }>
>["values"];

/** One thing that `fetchwork` does. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** One line of the help. */
  readonly summary: string;
  /** Names of the positional arguments; `[name]` may be left out, `[name...]` may repeat. Default: there are none. */
  readonly positionals?: readonly string[];
  readonly options: O;
  /**
   * Does it. Resolves to the exit code.
   *
   * @throws UsageError when the arguments make no sense together
   */
  run(input: CommandInput<O>, io: CommandIo): Promise<number>;
}

/** What stood on the command line. */
export interface CommandInput<O extends CommandOptions> {
  readonly values: OptionValues<O>;
  readonly positionals: readonly string[];
}

/** Commands under one name; each is loaded when it is asked for. */
export interface CommandGroup {
  readonly summary: string;
  readonly commands: ReadonlyMap<string, () => Promise<Command | CommandGroup>>;
  /** The command for arguments that begin with none of the names. Default: they are an error. */
  readonly fallback?: () => Promise<Command>;
}

/** Infers the types of a command's options. */
export function defineCommand<const O extends CommandOptions>(command: Command<O>): Command {
  return command;
}
