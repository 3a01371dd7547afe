import type { CommandOptions } from "./command.ts";
import { CommandUsageError } from "./usage-error.ts";

const booleanWords: ReadonlyMap<string, "true" | "false"> = new Map([
  ["true", "true"],
  ["yes", "true"],
  ["on", "true"],
  ["1", "true"],
  ["false", "false"],
  ["no", "false"],
  ["off", "false"],
  ["0", "false"],
]);

/**
 * Rewrites what `parseArgs` does not support: aliases become the names of their options, and every
 * form of a boolean becomes `--x=true` or `--x=false`; an option that needs no value gets its own.
 * Arguments after `--` stay unchanged.
 *
 * @throws CommandUsageError for a value that is neither true nor false
 */
export function expandShortcuts(
  args: readonly string[],
  options: CommandOptions,
): readonly string[] {
  const names = otherNames(options);
  const expanded: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? "";
    if (argument === "--") return [...expanded, ...args.slice(at)];
    const equals = argument.indexOf("=");
    const given = equals === -1 ? argument : argument.slice(0, equals);
    const value = equals === -1 ? undefined : argument.slice(equals + 1);
    const name = names.get(given) ?? given;
    const positive = name.replace(/^--no-/, "--");
    const isBoolean = names.has(given) && options[positive.slice(2)]?.isBoolean === true;
    if (!isBoolean) {
      const alone = value ?? valueAlone(name, options, args[at + 1]);
      expanded.push(alone === undefined ? name : `${name}=${alone}`);
      // The value of an option is not an option itself.
      if (alone === undefined && takesValue(name, options) && at + 1 < args.length) {
        expanded.push(args[(at += 1)] ?? "");
      }
    } else if (name !== positive) {
      if (value !== undefined) throw new CommandUsageError(`${given} does not take a value`);
      expanded.push(`${positive}=false`);
    } else {
      const next = booleanWords.get((args[at + 1] ?? "").toLowerCase());
      if (value === undefined && next !== undefined) at += 1;
      expanded.push(`${name}=${value === undefined ? (next ?? "true") : booleanOf(given, value)}`);
    }
  }
  return expanded;
}

/** Aliases and negations, with the names they stand for. */
function otherNames(options: CommandOptions): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, { aliases = [], isBoolean }] of Object.entries(options)) {
    for (const alias of aliases) names.set(`--${alias}`, `--${name}`);
    if (isBoolean === true) names.set(`--no-${name}`, `--no-${name}`).set(`--${name}`, `--${name}`);
  }
  return names;
}

/** The value of an option that is written without one, and before no number. */
function valueAlone(name: string, options: CommandOptions, next = ""): string | undefined {
  return /^\d+$/.test(next) ? undefined : options[name.replace(/^--/, "")]?.valueIfNone;
}

function takesValue(name: string, options: CommandOptions): boolean {
  if (name.startsWith("--")) return options[name.slice(2)]?.type === "string";
  return (
    /^-[^-]$/.test(name) &&
    Object.values(options).some(({ short, type }) => short === name[1] && type === "string")
  );
}

function booleanOf(name: string, value: string): "true" | "false" {
  const truth = booleanWords.get(value.toLowerCase());
  if (truth !== undefined) return truth;
  throw new CommandUsageError(`${name} must be true or false, got ${JSON.stringify(value)}`);
}
