import { CommandFailure } from "../command/command-failure.ts";
import type { Command, CommandGroup } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";

/** `fetchwork agent`. */
export const agentCommands: CommandGroup = {
  summary:
    "Write programs with a language model (if the prompt resembles a command name, use --prompt)",
  commands: new Map([
    ["resume", withAgent(async () => (await import("./resume.ts")).resume)],
    ["edit", withAgent(async () => (await import("./edit.ts")).edit)],
    ["continue", withAgent(async () => (await import("./edit.ts")).continueRun)],
    ["plan", withAgent(async () => (await import("./plan.ts")).plan)],
    ["files", withAgent(async () => (await import("./files.ts")).files)],
    ["verify", withAgent(async () => (await import("./verify.ts")).verify)],
    ["serve", withAgent(async () => (await import("./serve.ts")).serve)],
    ["acp", withAgent(async () => (await import("./acp.ts")).acp)],
    ["debug", withAgent(async () => (await import("./debug.ts")).debug)],
    ["runs", withAgent(async () => (await import("./runs.ts")).runs)],
    ["undo", withAgent(async () => (await import("./undo.ts")).undo)],
  ]),
  fallback: withAgent(async () => (await import("./run.ts")).run),
};

/**
 * Loads a command of the agent, whose package is installed only where it is used: it brings the SDK of the models.
 *
 * @throws CommandFailure when the package is not installed
 */
export function withAgent(load: () => Promise<Command>): () => Promise<Command> {
  return () => loadAgent(load);
}

/**
 * Loads what needs the package of the agent.
 *
 * @throws CommandFailure as a rejection, when the package is not installed
 */
export async function loadAgent<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : "";
    const isMissing = message.startsWith("Cannot find package '@fetchwork/agent'");
    if (!isMissing) throw cause;
    throw new CommandFailure("the package @fetchwork/agent is not installed", {
      exitCode: exitCodes.failed,
      hint: "Install it with: npm install @fetchwork/agent (in a clone of Fetchwork, `npm run pack -- agent` prints the line to use)",
      cause,
    });
  }
}
