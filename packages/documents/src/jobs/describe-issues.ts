import type { SchemaIssue } from "@fetchwork/kit";

/** Names the places that a schema rejects; not the values, which may be secret. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, maxShown).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return `${place === "" ? "the input" : place}: ${message}`;
  });
  return shown.join("; ").slice(0, maxText);
}

const maxShown = 5;
const maxText = 500;
