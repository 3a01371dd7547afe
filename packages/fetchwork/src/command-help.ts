import type { Command, CommandGroup } from "./command.ts";

/** Writes what a group of commands offers. */
export async function groupHelp(path: readonly string[], group: CommandGroup): Promise<string> {
  const rows = await Promise.all(
    Array.from(group.commands, async ([name, load]) => [name, (await load()).summary] as const),
  );
  const listed = `${group.summary}\n\nUsage: ${path.join(" ")} <command>\n\n${columns(rows)}\n`;
  const fallback = await group.fallback?.();
  return fallback === undefined ? listed : `${listed}\n${commandHelp(path, fallback)}`;
}

/** Writes what a command takes. */
export function commandHelp(path: readonly string[], command: Command): string {
  const { summary, positionals = [], options } = command;
  const rows = Object.entries(options).map(([name, option]) => {
    const { short, type, hint = "value", default: standard, description, isTruth } = option;
    const value = isTruth === true ? ` [boolean]` : type === "string" ? ` <${hint}>` : "";
    const note =
      standard === undefined || standard === false ? "" : ` (default: ${String(standard)})`;
    return [
      `${short === undefined ? "    " : `-${short}, `}--${name}${value}`,
      description + note,
    ] as const;
  });
  rows.push(["-h, --help", "Print this help"]);
  const usage = [
    ...path,
    ...positionals.map((name) => (name.startsWith("[") ? name : `<${name}>`)),
  ];
  return `${summary}\n\nUsage: ${usage.join(" ")} [options]\n\n${columns(rows)}\n`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
