import { createAgent, defaultVerifiers, describeDiagnostic } from "@fetchwork/agent";
import { defineCommand, type Command } from "../command.ts";
import { colours, jsonLine, oneLine } from "../terminal-text.ts";
import { agentExitCodes } from "./agent-exit-codes.ts";
import { errorCount } from "./event-line.ts";
import { programFolder } from "./project-question.ts";
import { tellFailure } from "./tell-failure.ts";

/** `fetchwork agent verify`. */
export const verify: Command = defineCommand({
  summary: "Check a program without a model, and with --run in a sandbox too",
  positionals: ["folder"],
  options: {
    run: { type: "boolean", description: "Run it: node --check, node --test, tsc; in a sandbox" },
    json: { type: "boolean", description: "Print each fault as a line of JSON" },
  },
  async run({ values, positionals: [named = ""] }, io) {
    try {
      const folder = programFolder(named, io);
      const verifiers = values.run === true ? defaultVerifiers() : undefined;
      const { signal } = io;
      const found = await createAgent({ verifiers }).verify(folder, { signal });
      const { red, dim } = colours(io.stdout);
      for (const diagnostic of found) {
        const { severity } = diagnostic;
        const word = severity === "error" ? red(severity) : dim(severity);
        io.stdout.write(
          values.json === true
            ? jsonLine(diagnostic)
            : `${word} ${oneLine(describeDiagnostic(diagnostic), 1000)}\n`,
        );
      }
      const errors = found.filter(({ severity }) => severity === "error").length;
      if (values.json !== true) io.stderr.write(`${errorCount(errors)}\n`);
      return errors === 0 ? 0 : agentExitCodes.faults;
    } catch (error) {
      throw tellFailure(error, values, io);
    }
  },
});
