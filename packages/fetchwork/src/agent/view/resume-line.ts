import type { CommandIo } from "../../command/command-io.ts";
import { shellWord } from "../../command/shell-word.ts";

/** Parts of the command that resumes a run. */
export interface ResumeLine {
  readonly runId: string;
  /** The folder, as it was given. */
  readonly out: string;
  /** Options as they were given, by name. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Options of `run` and `edit` that `resume` has no use for. */
const left: ReadonlySet<string> = new Set([
  "prompt",
  "plan",
  "out",
  "dry-run",
  "dirty",
  "commit",
  "ask",
  "image",
  "run",
]);

/** The command line that resumes a run, quoted for a shell. */
export function resumeLine({ runId, out, values }: ResumeLine, io: CommandIo): string {
  const program = io.env["npm_command"] === "exec" ? "npx fetchwork" : "fetchwork";
  const options = Object.entries(values).flatMap(([name, value]) => {
    if (left.has(name)) return [];
    const each: readonly unknown[] = Array.isArray(value) ? value : [value];
    return each.flatMap((one) =>
      one === true ? [`--${name}`] : typeof one === "string" ? [option(name, one)] : [],
    );
  });
  return [program, "agent resume", runId, option("out", out), ...options].join(" ");
}

/** A value that begins like an option has to be joined to its own. */
function option(name: string, value: string): string {
  return `--${name}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;
}
