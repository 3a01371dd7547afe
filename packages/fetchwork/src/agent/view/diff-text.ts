import { unifiedDiff, type ProposedChange } from "@fetchwork/agent";
import type { CommandIo } from "../../command/command-io.ts";
import { colours, manyLines } from "../../command/terminal-text.ts";

/** The change of a file as a diff: for people with colours and without escape sequences. */
export function diffText({ path, before, after }: ProposedChange, io: CommandIo): string {
  const diff = unifiedDiff(path, before, after);
  if (!io.stdout.isTerminal) return diff;
  const { green, red, dim } = colours(io.stdout);
  return manyLines(diff)
    .replaceAll("\r", "?")
    .split("\n")
    .map((line) => {
      if (/^(?:@@|---|\+\+\+)/.test(line)) return dim(line);
      return line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line;
    })
    .join("\n");
}
