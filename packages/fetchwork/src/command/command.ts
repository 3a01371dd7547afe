import type { parseArgs, ParseArgsOptionDescriptor } from "node:util";
import type { CommandIo } from "./command-io.ts";

/** An option of a command: what Node's `parseArgs` takes, and its text in the help. */
export interface CommandOption extends ParseArgsOptionDescriptor {
  /** One line of the help. */
  readonly description: string;
  /** Placeholder of the value in the help. Default: `value`. */
  readonly hint?: string;
  /** Other long names, not listed in the help. Default: none. */
  readonly aliases?: readonly string[];
  /**
   * A boolean that accepts `--x`, `--x true`, `--x=no` and `--no-x`. Its `type` is `string` and its
   * value is `true` or `false`. Default: not a boolean.
   */
  readonly isBoolean?: true;
  /** Value of an option without one; then only a whole number is a value. Default: required. */
  readonly valueIfNone?: string;
}

/** Options by their long name. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The values of a command's options, typed by their definitions. */
export type OptionValues<O extends CommandOptions> = ReturnType<
  typeof parseArgs<{ options: O; strict: true; allowPositionals: true }>
>["values"];

/** One command of `fetchwork`. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** One line of the help. */
  readonly summary: string;
  /** Names of positional arguments: `[name]` is optional, `[name...]` repeats. Default: none. */
  readonly positionals?: readonly string[];
  readonly options: O;
  /**
   * Runs the command and resolves to the exit code.
   *
   * @throws CommandUsageError when the arguments contradict each other
   */
  run(input: CommandInput<O>, io: CommandIo): Promise<number>;
}

/** The parsed command line. */
export interface CommandInput<O extends CommandOptions> {
  readonly values: OptionValues<O>;
  readonly positionals: readonly string[];
}

/** Commands under one name; each is loaded on first use. */
export interface CommandGroup {
  /** One line of the help. */
  readonly summary: string;
  /** Commands by name, each loaded when it is called. */
  readonly commands: ReadonlyMap<string, () => Promise<Command | CommandGroup>>;
  /** The command that runs when the first argument matches no name. Default: an error. */
  readonly fallback?: () => Promise<Command>;
}

/** Infers the types of a command's options. */
export function defineCommand<const O extends CommandOptions>(command: Command<O>): Command {
  return command;
}
