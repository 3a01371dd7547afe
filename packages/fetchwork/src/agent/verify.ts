import { createAgent, describeDiagnostic } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { verifiersFor, sandboxOptions, workOptions } from "./work-options.ts";
import { agentExitCodes } from "./agent-exit-codes.ts";
import { errorCount } from "./view/event-line.ts";
import { programFolder } from "./program-folder.ts";

/** `fetchwork agent verify`. */
export const verify: Command = defineCommand({
  summary: "Check a program without a model; with --run also in a sandbox",
  positionals: ["folder"],
  options: {
    run: { type: "boolean", description: "Run the project's checks and tests in a sandbox" },
    check: workOptions.check,
    packages: workOptions.packages,
    unsafe: workOptions.unsafe,
    json: {
      type: "boolean",
      description: "Print each problem as a line of JSON, then what was checked",
    },
  },
  async run({ values, positionals: [named = ""] }, io) {
    const folder = programFolder(named, io);
    const verifiers = verifiersFor(values.run, values.check);
    const sandbox = sandboxOptions(values);
    const { signal } = io;
    const found = await createAgent({ verifiers, sandbox }).verify(folder, { signal });
    const { diagnostics, checked, unchecked } = found;
    const { red, dim } = colours(io.stdout);
    for (const diagnostic of diagnostics) {
      const { severity } = diagnostic;
      const word = severity === "error" ? red(severity) : dim(severity);
      io.stdout.write(
        values.json === true
          ? jsonLine(diagnostic)
          : `${word} ${oneLine(describeDiagnostic(diagnostic), 1000)}\n`,
      );
    }
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    if (values.json === true) {
      io.stdout.write(jsonLine({ type: "finished", errors, checked, unchecked }));
    } else io.stderr.write(`${errorCount(errors, found)}\n`);
    return errors === 0 ? 0 : agentExitCodes.faults;
  },
});
