import type { Diagnostic } from "../check/diagnostic.ts";
import { readFailures } from "./run-failures.ts";
import type { ExecResult } from "./sandbox.ts";
import type { ProjectView } from "./verifier.ts";

/** Paths of one command line. */
const maxPaths = 500;

/**
 * Looks for faults of syntax in many files by one process: it is told their paths, and prints a
 * line of JSON for each fault, `[index, line, message]`.
 *
 * @param what the run, such as `sh -n`
 */
export async function syntaxRun(
  what: string,
  paths: readonly string[],
  project: ProjectView,
  exec: (paths: readonly string[]) => Promise<ExecResult>,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (let from = 0; from < paths.length; from += maxPaths) {
    const some = paths.slice(from, from + maxPaths);
    const result = await exec(some.map((path) => `./${path}`));
    if (result.code !== 0) return [...found, ...readFailures(what, result, project, [])];
    for (const text of result.stdout.split("\n").filter((line) => line.startsWith("["))) {
      const [index, line, message] = faultOf(text);
      const path = some[index];
      if (path === undefined) continue;
      const place = line > 0 ? { path, line } : { path };
      found.push({
        ...place,
        code: "verification",
        message: `${what}: ${message}`.slice(0, 500),
        severity: "error",
      });
    }
  }
  return found;
}

function faultOf(text: string): readonly [index: number, line: number, message: string] {
  try {
    const value: unknown = JSON.parse(text);
    const [index, line, message] = Array.isArray(value) ? (value as unknown[]) : [];
    return [Number(index), Number(line), String(message)];
  } catch {
    return [-1, 0, ""];
  }
}
