import type { CommandGroup } from "../command/command.ts";

/** `fetchwork agent`. */
export const agentCommands: CommandGroup = {
  summary:
    "Write programs with a language model (if the prompt resembles a command name, use --prompt)",
  commands: new Map([
    ["resume", async () => (await import("./resume.ts")).resume],
    ["edit", async () => (await import("./edit.ts")).edit],
    ["plan", async () => (await import("./plan.ts")).plan],
    ["files", async () => (await import("./files.ts")).files],
    ["verify", async () => (await import("./verify.ts")).verify],
    ["serve", async () => (await import("./serve.ts")).serve],
    ["debug", async () => (await import("./debug.ts")).debug],
    ["runs", async () => (await import("./runs.ts")).runs],
  ]),
  fallback: async () => (await import("./run.ts")).run,
};
