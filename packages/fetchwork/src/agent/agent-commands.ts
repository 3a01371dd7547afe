import type { Command, CommandGroup } from "../command/command.ts";
import { withPackage } from "../command/optional-package.ts";

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
 * Loads a command of the agent, whose package brings the SDK of the models. An error of it becomes
 * the failure of a run.
 *
 * @throws CommandFailure when the package is not installed
 */
export function withAgent(load: () => Promise<Command>): () => Promise<Command> {
  return () =>
    withPackage("agent", async () => {
      const command = await load();
      const { toRunFailure } = await import("./run-failure.ts");
      return {
        ...command,
        async run(input, io) {
          try {
            return await command.run(input, io);
          } catch (error) {
            throw toRunFailure(error, input.values, io);
          }
        },
      };
    });
}
