import type { Row } from "../../operation.ts";

/** Begins a statement that returns the plan of another one. */
export const explainPrefix = "EXPLAIN QUERY PLAN ";

/** Writes the rows of a plan: the number of a line, that of the line above it, a column without use, and the line. */
export function queryPlanText(rows: readonly Row[]): string {
  const depths = new Map<unknown, number>();
  const lines = rows.map(([id, parent, , line]) => {
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(id, depth);
    return `${"  ".repeat(depth)}${String(line)}`;
  });
  return lines.join("\n");
}
