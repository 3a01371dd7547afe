import { describeDiagnostic, type Diagnostic } from "../check/diagnostic.ts";

/** A file to repair, and what is wrong with it. */
export interface RepairTask {
  readonly path: string;
  readonly problems: readonly string[];
  /** Other files that its faults are about. */
  readonly related: readonly string[];
}

/** The files that the errors name, of those that are ours to write; other files are not touched. */
export function repairTasks(
  diagnostics: readonly Diagnostic[],
  ours: ReadonlySet<string>,
): readonly RepairTask[] {
  const tasks = new Map<string, { problems: string[]; related: Set<string> }>();
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== "error") continue;
    const { path, related } = diagnostic;
    const target = ours.has(path) ? path : related;
    if (target === undefined || !ours.has(target)) continue;
    const task = tasks.get(target) ?? { problems: [], related: new Set<string>() };
    tasks.set(target, task);
    task.problems.push(describeDiagnostic(diagnostic));
    for (const other of [path, related]) {
      if (other !== undefined && other !== target) task.related.add(other);
    }
  }
  return [...tasks].map(([path, { problems, related }]) => ({
    path,
    problems: problems.slice(0, 30),
    related: [...related].slice(0, 8),
  }));
}
