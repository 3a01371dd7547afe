import type { ExecResult } from "../verify/sandbox.ts";

/** Characters of output that a model is told: the first third, and the end. */
const maxOutput = 12_000;

/** Leaves out the middle of a text that is too long for a model. */
export function cutOutput(text: string): string {
  if (text.length <= maxOutput) return text;
  const head = text.slice(0, maxOutput / 3);
  const tail = text.slice(text.length - (maxOutput * 2) / 3);
  return `${head}\n… ${text.length - maxOutput} characters are left out …\n${tail}`;
}

/** How a command ended and what it printed, cut for a model. */
export function outputOf({ code, stdout, stderr, timedOut }: ExecResult, cwd: string): string {
  const end = timedOut ? "It took too long." : `It ended with ${code ?? "a signal"}.`;
  const texts = [stdout, stderr].map((text) => text.replaceAll(`${cwd}/`, "").trim());
  const output = texts.filter((text) => text !== "");
  return [end, ...output.map(cutOutput)].join("\n\n");
}
