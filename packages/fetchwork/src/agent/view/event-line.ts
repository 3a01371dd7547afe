import { describeDiagnostic, type AgentEvent, type Usage } from "@fetchwork/agent";
import { oneLine } from "../../command/terminal-text.ts";

const numbers = new Intl.NumberFormat("en-US");

/** A number with commas. */
export function grouped(value: number): string {
  return numbers.format(value);
}

/** What calls used, for a person. */
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
    case "step":
      return event.step === "repair" && event.path !== undefined
        ? `repair   ${oneLine(event.path)}`
        : undefined;
    case "checked": {
      const { diagnostics, knownErrors, level } = event;
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      // A program that does not fit together is not run.
      const wasRun = errors.every(({ code }) => code === "verification");
      const where = level !== undefined && wasRun ? `, run in the sandbox "${level}"` : "";
      const found = errors.map((one) => `\n         ${oneLine(describeDiagnostic(one))}`);
      return `checked  ${errorCount(errors.length, knownErrors)}${where}${found.slice(0, 20).join("")}`;
    }
    default:
      return undefined;
  }
}

/** How many errors, in words; of an edit those that are new, if there were others before. */
export function errorCount(count: number, known = 0): string {
  const fresh = known === 0 ? "" : "new ";
  const errors = `${count === 0 ? "no" : grouped(count)} ${fresh}error${count === 1 ? "" : "s"}`;
  return known === 0 ? errors : `${errors} (${grouped(known)} before)`;
}
