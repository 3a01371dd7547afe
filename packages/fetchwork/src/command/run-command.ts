import { parseArgs } from "node:util";
import { closestName } from "@fetchwork/kit";
import type { CommandIo } from "./command-io.ts";
import { CommandFailure } from "./command-failure.ts";
import type { Command, CommandGroup } from "./command.ts";
import { commandHelp, groupHelp } from "./command-help.ts";
import { exitCodes } from "./exit-codes.ts";
import { expandShortcuts } from "./expand-shortcuts.ts";
import { messageOf } from "./system-error.ts";
import { oneLine } from "./terminal-text.ts";
import { CommandUsageError } from "./usage-error.ts";
import { VERSION } from "../version.ts";

/**
 * Runs a command line and resolves to the exit code. It never rejects: a failure is one line on
 * standard error.
 */
export async function runCommand(
  root: CommandGroup,
  { args, io }: { readonly args: readonly string[]; readonly io: CommandIo },
): Promise<number> {
  const path = ["fetchwork"];
  const width = lineWidth(io);
  try {
    let target: Command | CommandGroup = root;
    let rest = args;
    /** Command names that the first argument may be a misspelling of. */
    let near: readonly string[] = [];
    while ("commands" in target) {
      const [name, ...others] = rest;
      if (name === undefined || isHelp(name)) {
        io.stdout.write(await groupHelp(target, { path, width }));
        return name === undefined ? exitCodes.usage : exitCodes.ok;
      }
      if (name === "help") {
        rest = [...others, "--help"];
        continue;
      }
      if (target === root && (name === "--version" || name === "-v")) {
        io.stdout.write(`${VERSION}\n`);
        return exitCodes.ok;
      }
      const load = target.commands.get(name);
      if (load === undefined) {
        near = [...target.commands.keys(), "help"];
        if (target.fallback === undefined) throw unknownName(name, near);
        target = await target.fallback();
        break;
      }
      target = await load();
      path.push(name);
      rest = others;
    }
    if (rest.slice(0, endOfOptions(rest)).some(isHelp)) {
      io.stdout.write(commandHelp(target, { path, width }));
      return exitCodes.ok;
    }
    refuseMistype(target, { args: rest, names: near });
    return await target.run(parse(target, rest), io);
  } catch (error) {
    const isOurs = error instanceof CommandFailure || error instanceof CommandUsageError;
    const isInterrupted = io.signal.aborted && !isOurs;
    // A message may quote a file or a response.
    const message = isInterrupted ? "interrupted" : oneLine(messageOf(error), 2000);
    io.stderr.write(`${path.join(" ")}: ${message}\n`);
    if (isInterrupted) return exitCodes.interrupted;
    if (error instanceof CommandFailure) {
      if (error.hint !== undefined) io.stderr.write(`${oneLine(error.hint, 4000)}\n`);
      return error.exitCode;
    }
    if (!(error instanceof CommandUsageError)) return exitCodes.failed;
    io.stderr.write(`Try: ${path.join(" ")} --help\n`);
    return exitCodes.usage;
  }
}

function unknownName(name: string, names: readonly string[]): CommandUsageError {
  const kind = name.startsWith("-") ? "option" : "command";
  const meant = kind === "command" ? closestName(name, names) : undefined;
  const advice = meant === undefined ? "" : `, did you mean ${JSON.stringify(meant)}?`;
  return new CommandUsageError(`unknown ${kind} ${JSON.stringify(name)}${advice}`);
}

/**
 * Rejects a first argument that equals or resembles the name of another command: a misspelt name
 * must not be taken for a prompt or a file. Arguments after `--` are never names.
 */
function refuseMistype(
  command: Command,
  { args, names }: { readonly args: readonly string[]; readonly names: readonly string[] },
): void {
  const { positionals } = readArguments(args.slice(0, endOfOptions(args)), command.options);
  const [first = ""] = positionals;
  const meant = /^[\p{L}\d_-]+$/u.test(first) ? closestName(first, names) : undefined;
  if (meant === undefined) return;
  const isExact = first === meant;
  const advice = isExact
    ? `${JSON.stringify(first)} is a command name and must come before all options`
    : `unknown command ${JSON.stringify(first)}, did you mean ${JSON.stringify(meant)}?`;
  const wayOut = `${isExact ? "; to" : " To"} use it as the prompt, pass it with --prompt`;
  throw new CommandUsageError("prompt" in command.options ? advice + wayOut : advice);
}

function parse(command: Command, args: readonly string[]): Parameters<Command["run"]>[0] {
  const { options, positionals: names = [] } = command;
  const parsed = readArguments(args, options);
  const needed = names.filter((name) => !name.startsWith("["));
  const isOpen = names.at(-1)?.includes("...") === true;
  if (parsed.positionals.length < needed.length) {
    throw new CommandUsageError(`${needed[parsed.positionals.length] ?? "an argument"} is missing`);
  }
  if (parsed.positionals.length > names.length && !isOpen) {
    throw new CommandUsageError(
      `unexpected argument ${JSON.stringify(parsed.positionals[names.length])}`,
    );
  }
  return parsed;
}

function readArguments(
  args: readonly string[],
  options: Command["options"],
): ReturnType<typeof parse> {
  try {
    const expanded = expandShortcuts(args, options);
    return parseArgs({ args: [...expanded], options, strict: true, allowPositionals: true });
  } catch (error) {
    if (error instanceof CommandUsageError || !(error instanceof Error)) throw error;
    throw new CommandUsageError(parseMessage(error, options), { cause: error });
  }
}

/** Rewrites a message of `parseArgs` in the style of the other messages. */
function parseMessage(error: Error, options: Command["options"]): string {
  const text = error.message.replaceAll("\n", " ");
  const [, given = ""] = /'(?:-\w, )?(--?[^ ']+)/.exec(text) ?? [];
  if (text.startsWith("Unknown option")) {
    const meant = given.startsWith("--")
      ? closestName(given.slice(2), [...Object.keys(options), "help"])
      : undefined;
    return `unknown option ${JSON.stringify(given)}${meant === undefined ? "" : `, did you mean "--${meant}"?`}`;
  }
  if (text.includes("argument missing")) return `the value of ${given} is missing`;
  if (text.includes("argument is ambiguous")) {
    return `the value of ${given} is missing; write ${given}=-value if it begins with a dash`;
  }
  if (text.includes("does not take an argument")) return `${given} does not take a value`;
  return text.split(". ", 1)[0] ?? text;
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

function endOfOptions(args: readonly string[]): number {
  const end = args.indexOf("--");
  return end === -1 ? args.length : end;
}

/** The width of the terminal, or the COLUMNS of the environment. */
function lineWidth({ stdout: { columns = 0 }, env: { COLUMNS: given = "" } }: CommandIo): number {
  if (columns > 0) return columns;
  return /^[1-9]\d{0,3}$/.test(given) ? Number(given) : 80;
}
