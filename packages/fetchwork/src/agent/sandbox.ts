import { existsSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../command/command-failure.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { milliseconds } from "../command/milliseconds.ts";
import { withPackage } from "../command/optional-package.ts";
import { count } from "../command/whole-number.ts";

/** The exit code of timeout(1). */
const timedOutCode = 124;

/** Folders of code that runs later, outside of the sandbox: packages, and the hooks of Git. */
const trusted = ["node_modules", ".git"];

/** `fetchwork sandbox`. */
export const sandbox: Command = defineCommand({
  summary:
    "Run a command in a sandbox: it can change the current folder (not its node_modules and .git), and has no network",
  positionals: ["command", "[argument...]"],
  options: {
    "read-only": { type: "boolean", description: "The command cannot change the folder either" },
    timeout: {
      type: "string",
      hint: "time",
      description:
        "Maximum time, such as 90s, 10m or 1h; then the exit code is 124 (default: none)",
    },
    memory: {
      type: "string",
      hint: "MiB",
      description:
        "Heap of Node and files in /tmp; twice as much and 1 GiB for a process (default: 512)",
    },
  },
  async run({ values, positionals }, { cwd, signal, stderr }) {
    const timeout = milliseconds("timeout", values.timeout);
    const memory = count("memory", values.memory, 2 ** 20);
    const { createSandbox } = await withPackage("agent", () => import("@fetchwork/agent"));
    const readOnly =
      values["read-only"] === true
        ? [cwd]
        : trusted.map((name) => join(cwd, name)).filter((path) => existsSync(path));
    const options = { cwd, readOnly, signal, stdio: "inherit" } as const;
    try {
      const sealed = await createSandbox({ memory, timeout: timeout ?? 2 ** 31 - 1 });
      const { code, timedOut } = await sealed.exec(positionals, options);
      if (timedOut) stderr.write("fetchwork sandbox: the command timed out\n");
      return code ?? (timedOut ? timedOutCode : exitCodes.interrupted);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      throw new CommandFailure(cause.message, { exitCode: exitCodes.failed, cause });
    }
  },
});
