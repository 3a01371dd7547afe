import type { ServingIndex } from "../../../api/explanation.ts";
import type { Row } from "../../operation.ts";
import type { StatementPlan, TableAccess } from "../../statement-plan.ts";
import type { SqliteLayout } from "./layout.ts";

/** Begins a statement that returns the plan of another one. */
export const explainPrefix = "EXPLAIN QUERY PLAN ";

/** Reads the rows of a plan: the number of a line, that of the line above it, a column without use, and the line. */
export function readQueryPlan(rows: readonly Row[], layout: SqliteLayout): StatementPlan {
  const lines = rows.map((row) => String(row[3]));
  const depths = new Map<unknown, number>();
  const indented = rows.map(([id, parent], index) => {
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(id, depth);
    return `${"  ".repeat(depth)}${lines[index]}`;
  });
  return {
    accesses: lines.flatMap((line) => readLine(line, layout)),
    // Another line is about the last terms, in which rows differ that are equal in the terms of the index.
    sorts: lines.includes("USE TEMP B-TREE FOR ORDER BY"),
    isProvisional: false,
    text: indented.join("\n"),
  };
}

/** Reads a line such as `SEARCH tasks USING INDEX tasks:created (created_at>?)`. */
function readLine(line: string, layout: SqliteLayout): readonly TableAccess[] {
  const { name, search, geo = [] } = layout.definition;
  const [, verb, table = "", rest = ""] = /^(SCAN|SEARCH) (\S+)(.*)$/.exec(line) ?? [];
  const isSearched = verb === "SEARCH";
  if (table === name) return [{ index: indexOfLine(rest, layout), isSearched }];
  if (table === `${name}:geo`) return [{ index: { kind: "geo", fields: geo }, isSearched }];
  if (table !== layout.search.table) return [];
  // FTS5 notes an M for each MATCH that its index serves.
  const matches = / VIRTUAL TABLE INDEX \d+:.*M/.test(rest);
  return [{ index: { kind: "search", fields: search }, isSearched: matches }];
}

/** Finds the index in ` USING COVERING INDEX tasks:created (created_at>?)`. */
function indexOfLine(rest: string, layout: SqliteLayout): ServingIndex | undefined {
  const [, text] = /^ USING (?:COVERING )?INDEX (.*)$/.exec(rest) ?? [];
  if (text === undefined) return undefined;
  const { name } = layout.definition;
  if (text.startsWith(`sqlite_autoindex_${name}_`)) return { kind: "unique", fields: ["id"] };
  const isNamed = (index: string): boolean => text === index || text.startsWith(`${index} (`);
  if (isNamed(`${name}:removed`)) return { kind: "index", fields: ["deletedAt"] };
  const known = layout.indexes.find((index) => isNamed(index.name));
  if (known !== undefined) {
    if (known.columns !== undefined) return { kind: "collate", fields: known.fields };
    return { kind: known.isUnique ? "unique" : "index", fields: known.fields };
  }
  return { kind: "other", fields: [] };
}
