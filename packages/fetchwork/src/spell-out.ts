import type { CommandOptions } from "./command.ts";
import { UsageError } from "./usage-error.ts";

const truths: ReadonlyMap<string, "true" | "false"> = new Map([
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
 * Rewrites what `parseArgs` does not know: aliases become the names of their options, and each form of an option that is
 * true or false becomes `--x=true` or `--x=false`. What stands after `--` stays.
 *
 * @throws UsageError for a value that is neither true nor false
 */
export function spellOut(args: readonly string[], options: CommandOptions): readonly string[] {
  const names = otherNames(options);
  const spelt: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? "";
    if (argument === "--") return [...spelt, ...args.slice(at)];
    const equals = argument.indexOf("=");
    const given = equals === -1 ? argument : argument.slice(0, equals);
    const value = equals === -1 ? undefined : argument.slice(equals + 1);
    const name = names.get(given) ?? given;
    const positive = name.replace(/^--no-/, "--");
    const isTruth = names.has(given) && options[positive.slice(2)]?.isTruth === true;
    if (!isTruth) {
      spelt.push(value === undefined ? name : `${name}=${value}`);
      // The value of an option is none itself.
      if (value === undefined && takesValue(name, options) && at + 1 < args.length) {
        spelt.push(args[(at += 1)] ?? "");
      }
    } else if (name !== positive) {
      if (value !== undefined) throw new UsageError(`${given} takes no value`);
      spelt.push(`${positive}=false`);
    } else {
      const next = truths.get((args[at + 1] ?? "").toLowerCase());
      if (value === undefined && next !== undefined) at += 1;
      spelt.push(`${name}=${value === undefined ? (next ?? "true") : truthOf(given, value)}`);
    }
  }
  return spelt;
}

/** What stands for an option, or against it. */
function otherNames(options: CommandOptions): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, { aliases = [], isTruth }] of Object.entries(options)) {
    for (const alias of aliases) names.set(`--${alias}`, `--${name}`);
    if (isTruth === true) names.set(`--no-${name}`, `--no-${name}`).set(`--${name}`, `--${name}`);
  }
  return names;
}

function takesValue(name: string, options: CommandOptions): boolean {
  if (name.startsWith("--")) return options[name.slice(2)]?.type === "string";
  return (
    /^-[^-]$/.test(name) &&
    Object.values(options).some(({ short, type }) => short === name[1] && type === "string")
  );
}

function truthOf(name: string, value: string): "true" | "false" {
  const truth = truths.get(value.toLowerCase());
  if (truth !== undefined) return truth;
  throw new UsageError(`${name} is ${JSON.stringify(value)}, expected true or false`);
}
