import { describeDiagnostic, type ProposedChange, type RunResult } from "@fetchwork/agent";
import type { CommandIo } from "../../command/command-io.ts";
import { colours, manyLines, oneLine } from "../../command/terminal-text.ts";
import { errorCount, grouped, usageText } from "./event-line.ts";

/** Details of a run in addition to its result. */
interface ReportOptions {
  /** Changes that a dry run would write; undefined: the run wrote them. */
  readonly proposed: readonly ProposedChange[] | undefined;
  /** Whether a transcript was replayed, so that nothing was spent. */
  readonly isReplayed: boolean;
}

/** Characters of the model's last words. */
const maxFinalText = 4_000;

/** Writes the result of a run to the standard output. */
export function report(
  result: RunResult,
  { proposed, isReplayed }: ReportOptions,
  io: CommandIo,
): void {
  const { files, diagnostics, usage, repairs, sandbox, out, commit } = result;
  const { red, green, dim } = colours(io.stdout);
  const summary = manyLines((result.summary ?? "").trim().slice(0, maxFinalText));
  if (summary !== "") io.stdout.write(`${summary}\n`);
  if (proposed !== undefined) reportProposed(proposed, io);
  const width = Math.max(0, ...files.map(({ path }) => path.length));
  for (const { path, action, bytes, beside } of proposed === undefined ? files : []) {
    const note = beside === undefined ? "" : `  ours is next to it: ${oneLine(beside)}`;
    const word = action.padEnd(11);
    const size = `${grouped(bytes)} bytes`;
    io.stdout.write(
      `${beside === undefined ? green(word) : red(word)} ${oneLine(path).padEnd(width)}  ${dim(size)}${note}\n`,
    );
  }
  for (const diagnostic of diagnostics) {
    const { severity } = diagnostic;
    const word = severity.padEnd(11);
    const line = oneLine(describeDiagnostic(diagnostic), 1000);
    io.stdout.write(`${severity === "error" ? red(word) : dim(word)} ${line}\n`);
  }
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const spent = `${usageText(usage)} in ${grouped(usage.calls)} calls`;
  const cost = usage.cost === null && !isReplayed ? "cost unknown" : undefined;
  const parts = [
    `${files.length} ${files.length === 1 ? "file" : "files"}${proposed === undefined ? "" : ", nothing written"}`,
    errorCount(errors.length, result),
    repairs > 0 ? `${repairs} ${repairs === 1 ? "round" : "rounds"} of repair` : undefined,
    sandbox === undefined ? "not run" : `run in the sandbox "${sandbox}"`,
    isReplayed ? "no model was asked" : spent,
    cost,
    commit === null
      ? `not committed: ${result.ok ? "nothing differs from the last commit" : "there are new errors"}`
      : commit && `committed as ${commit.slice(0, 12)}`,
  ].filter((part) => part !== undefined);
  io.stdout.write(`${parts.join(", ")}\n${oneLine(out, 4096)}\n`);
}

/** Writes the changes that a dry run would make, one line a file. */
function reportProposed(changes: readonly ProposedChange[], io: CommandIo): void {
  const { dim } = colours(io.stdout);
  for (const { path, action, after } of changes) {
    const size = dim(`${grouped(Buffer.byteLength(after))} bytes`);
    io.stdout.write(`${dim("would be")} ${action.padEnd(11)} ${oneLine(path)}  ${size}\n`);
  }
}
