import type { Readable, Writable } from "node:stream";
import type { Approver } from "@fetchwork/agent";
import type { CommandIo } from "../command/command-io.ts";
import { terminalOf } from "../command/interactive-terminal.ts";
import { oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { diffText } from "./view/diff-text.ts";

/** Where people are asked. */
interface AskTerminal {
  readonly input: Readable;
  /** Default: the standard output. */
  readonly output?: Writable | undefined;
}

/**
 * Makes what asks at the terminal about each change, after its diff: to write it, to leave it, to
 * write all that follow, or to stop.
 *
 * @param terminal Default: the standard input
 * @throws CommandUsageError where no one can answer
 */
export function askAboutChanges(io: CommandIo, terminal?: AskTerminal): Approver {
  const input = terminal?.input ?? terminalOf(io);
  if (input === undefined) throw new CommandUsageError("--ask requires a terminal");
  const output = terminal?.output;
  let isAll = false;
  return async (change) => {
    if (isAll) return "apply";
    const { isCancel, select } = await import("@clack/prompts");
    io.stdout.write(diffText(change, io));
    const answer = await select({
      input,
      ...(output !== undefined && { output }),
      signal: io.signal,
      message: `Write ${oneLine(change.path)} (${change.action})?`,
      options: [
        { value: "apply", label: "Yes" },
        { value: "skip", label: "No, leave it" },
        { value: "all", label: "Yes, and all that follow" },
        { value: "abort", label: "Stop" },
      ],
    });
    if (isCancel(answer)) return "abort";
    isAll = answer === "all";
    return answer === "apply" || answer === "skip" ? answer : isAll ? "apply" : "abort";
  };
}
