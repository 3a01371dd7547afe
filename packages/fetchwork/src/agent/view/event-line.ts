import { describeDiagnostic, type AgentEvent, type Coverage, type Usage } from "@fetchwork/agent";
import { oneLine } from "../../command/terminal-text.ts";

const numbers = new Intl.NumberFormat("en-US");

/** A number with commas. */
export function grouped(value: number): string {
  return numbers.format(value);
}

/** Text of a usage, for a person. */
export function usageText({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = `${grouped(inputTokens + outputTokens)} tokens`;
  return cost === null || cost === 0 ? tokens : `${tokens}, $${cost.toFixed(4)}`;
}

/** The line that stays of an event; undefined: none does. */
export function eventLine(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "started":
      return `${event.resumed ? "resume" : "run"}      ${event.runId}`;
    case "planned":
      return `planned  ${usageText(event.usage)}`;
    case "files": {
      const { files, levels } = event;
      return `files    ${files.length} in ${levels.length} ${levels.length === 1 ? "level" : "levels"}`;
    }
    case "file": {
      const { path, bytes, done, total } = event;
      return `file     ${done}/${total} ${oneLine(path)} (${grouped(bytes)} bytes)`;
    }
    case "retry": {
      const { step, path = step, attempt, delay, message } = event;
      return `retry    ${oneLine(path)}: ${oneLine(message)}; attempt ${attempt + 1} in ${(delay / 1000).toFixed(1)} s`;
    }
    case "tool": {
      const { name, about, ok } = event;
      return `${name.padEnd(8)} ${oneLine(about, 200)}${ok ? "" : ": refused"}`;
    }
    case "step":
      return event.step === "repair" && event.path !== undefined
        ? `repair   ${oneLine(event.path)}`
        : undefined;
    case "checked": {
      const { diagnostics, level } = event;
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      const where = level === undefined ? "" : `, run in the sandbox "${level}"`;
      const found = errors.map((one) => `\n         ${oneLine(describeDiagnostic(one))}`);
      return `checked  ${errorCount(errors.length, event)}${where}${found.slice(0, 20).join("")}`;
    }
    default:
      return undefined;
  }
}

/** Extent to which a check could find errors. */
interface CheckExtent extends Coverage {
  /** Errors that were there before an edit. */
  readonly knownErrors?: number | undefined;
}

/**
 * How many errors, in words. "No errors" is only said of files that were checked; of an edit only
 * the new errors count, if there were others before.
 */
export function errorCount(count: number, extent: CheckExtent): string {
  const { knownErrors = 0, checked, unchecked } = extent;
  const fresh = knownErrors === 0 ? "" : "new ";
  const before = knownErrors === 0 ? "" : ` (${grouped(knownErrors)} before)`;
  const errors = `${count === 0 ? "no" : grouped(count)} ${fresh}error${count === 1 ? "" : "s"}`;
  if (unchecked.length === 0 && (checked > 0 || count > 0)) return errors + before;
  const left = unchecked.length === 0 ? "" : ` (${kindsOf(unchecked)})`;
  if (checked === 0 && count === 0) return `not checked${left}`;
  const within = checked === 0 ? "" : ` in ${fileCount(checked)}`;
  return `${errors}${within}${before}, ${fileCount(unchecked.length)} not checked${left}`;
}

function fileCount(count: number): string {
  return `${grouped(count)} ${count === 1 ? "file" : "files"}`;
}

/** The endings of some files, or their names where they have none. */
function kindsOf(paths: readonly string[]): string {
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const kinds = [...new Set(names.map((name) => /\.[\w-]+$/.exec(name)?.[0] ?? name))];
  return oneLine(kinds.slice(0, 5).join(", ") + (kinds.length > 5 ? ", …" : ""), 200);
}
