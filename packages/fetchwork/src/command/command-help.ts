import type { Command, CommandGroup } from "./command.ts";

/** Options of the help. */
interface HelpOptions {
  /** Names of the commands up to this one. */
  readonly path: readonly string[];
  /** Maximum characters of a line. */
  readonly width: number;
}

/** Writes the help of a group of commands. */
export async function groupHelp(group: CommandGroup, options: HelpOptions): Promise<string> {
  const { path, width } = options;
  const rows = await Promise.all(
    Array.from(group.commands, async ([name, load]) => [name, (await load()).summary] as const),
  );
  const head = [group.summary, "", `Usage: ${path.join(" ")} <command>`, ""];
  const listed = [...head.flatMap((line) => wrap(line, width)), ...columns(rows, width)];
  const fallback = await group.fallback?.();
  return `${listed.join("\n")}\n${fallback === undefined ? "" : `\n${commandHelp(fallback, options)}`}`;
}

/** Writes the help of a command. */
export function commandHelp(command: Command, { path, width }: HelpOptions): string {
  const { summary, positionals = [], options } = command;
  const rows = Object.entries(options).map(([name, option]) => {
    const { short, type, hint = "value", default: standard, description, isBoolean } = option;
    const value = isBoolean === true ? ` [boolean]` : type === "string" ? ` <${hint}>` : "";
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
  const head = [summary, "", `Usage: ${usage.join(" ")} [options]`, ""];
  const lines = [...head.flatMap((line) => wrap(line, width)), ...columns(rows, width)];
  return `${lines.join("\n")}\n`;
}

/** Rows in two columns; in a narrow terminal the second one is below the first. */
function columns(rows: readonly (readonly [string, string])[], width: number): readonly string[] {
  const left = Math.max(...rows.map(([name]) => name.length)) + 4;
  if (width - left >= 28) {
    return rows.flatMap(([name, text]) =>
      wrap(text, width - left).map(
        (line, index) => `${(index === 0 ? `  ${name}` : "").padEnd(left)}${line}`,
      ),
    );
  }
  const indent = 8;
  return rows.flatMap(([name, text]) => [
    `  ${name}`,
    ...wrap(text, width - indent).map((line) => `${" ".repeat(indent)}${line}`),
  ]);
}

/** Breaks a text between words. A word longer than a line gets a separate line. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
