import { parseArgs } from "node:util";
import type { CommandIo } from "./command-io.ts";
import { CommandFailure } from "./command-failure.ts";
import type { Command, CommandGroup } from "./command.ts";
import { commandHelp, groupHelp } from "./command-help.ts";
import { spellOut } from "./spell-out.ts";
import { oneLine } from "./terminal-text.ts";
import { UsageError } from "./usage-error.ts";
import { VERSION } from "./version.ts";

/** Exit codes that every command shares; a command may add its own from 3 on. */
export const exitCodes: { readonly ok: 0; readonly failed: 1; readonly usage: 2 } = {
  ok: 0,
  failed: 1,
  usage: 2,
};

/**
 * Runs what a command line asks for and resolves to the exit code. Nothing is thrown: what fails is one line on
 * standard error.
 */
export async function runCommand(
  root: CommandGroup,
  { args, io }: { readonly args: readonly string[]; readonly io: CommandIo },
): Promise<number> {
  const path = ["fetchwork"];
  try {
    let target: Command | CommandGroup = root;
    let rest = args;
    while ("commands" in target) {
      const [name, ...others] = rest;
      if (name === undefined || isHelp(name)) {
        io.stdout.write(await groupHelp(path, target));
        return name === undefined && path.length > 1 ? exitCodes.usage : exitCodes.ok;
      }
      if (target === root && name === "--version") {
        io.stdout.write(`${VERSION}\n`);
        return exitCodes.ok;
      }
      const load = target.commands.get(name);
      if (load === undefined && target.fallback !== undefined) {
        target = await target.fallback();
        break;
      }
      if (load === undefined)
        throw new UsageError(
          `unknown ${name.startsWith("-") ? "option" : "command"} ${JSON.stringify(name)}`,
        );
      target = await load();
      path.push(name);
      rest = others;
    }
    if (rest.slice(0, endOfOptions(rest)).some(isHelp)) {
      io.stdout.write(commandHelp(path, target));
      return exitCodes.ok;
    }
    return await target.run(parse(target, rest), io);
  } catch (error) {
    // A message may quote a file or an answer.
    io.stderr.write(`${path.join(" ")}: ${oneLine(messageOf(error), 2000)}\n`);
    if (error instanceof CommandFailure) {
      if (error.hint !== undefined) io.stderr.write(`${oneLine(error.hint, 4000)}\n`);
      return error.exitCode;
    }
    if (!(error instanceof UsageError)) return exitCodes.failed;
    io.stderr.write(`Try: ${path.join(" ")} --help\n`);
    return exitCodes.usage;
  }
}

function parse(command: Command, args: readonly string[]): Parameters<Command["run"]>[0] {
  const { options, positionals: names = [] } = command;
  const parsed = readArguments(args, options);
  const needed = names.filter((name) => !name.startsWith("["));
  const isOpen = names.at(-1)?.includes("...") === true;
  if (parsed.positionals.length < needed.length) {
    throw new UsageError(`${needed[parsed.positionals.length] ?? "an argument"} is missing`);
  }
  if (parsed.positionals.length > names.length && !isOpen) {
    throw new UsageError(`unexpected argument ${JSON.stringify(parsed.positionals[names.length])}`);
  }
  return parsed;
}

function readArguments(
  args: readonly string[],
  options: Command["options"],
): ReturnType<typeof parse> {
  try {
    const spelt = spellOut(args, options);
    return parseArgs({ args: [...spelt], options, strict: true, allowPositionals: true });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const message = messageOf(error).split(". ", 1)[0]?.replaceAll("\n", " ");
    throw new UsageError(message, { cause: error });
  }
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

function endOfOptions(args: readonly string[]): number {
  const end = args.indexOf("--");
  return end === -1 ? args.length : end;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
