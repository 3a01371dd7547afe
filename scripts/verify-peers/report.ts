import type { Access, MatrixReport, PeerFinding } from "./matrix.ts";
import type { ShownRequest } from "./sender.ts";

const letters: Readonly<Record<Access, string>> = { read: "r", inferred: "i", written: "w" };

/**
 * Lists which caller reads (`r`), infers by queries (`i`) and writes (`w`) which field, as
 * Markdown; upper case is a finding.
 */
export function matrixTable({ cells, findings }: MatrixReport): string {
  const faults = new Set(
    findings.map(({ caller, code, collection, field }) =>
      [collection, field, caller, code].join(" "),
    ),
  );
  const callers = [...new Set(cells.map(({ caller }) => caller))].toSorted();
  const rows = Map.groupBy(cells, ({ collection, field }) => `${collection}.${field}`);
  const lines = [...rows].map(([name, own]) => {
    const columns = callers.map((caller) => {
      const got = own
        .filter((cell) => cell.caller === caller)
        .map(({ access, collection, field }) => {
          const isFault = faults.has([collection, field, caller, `field-${access}`].join(" "));
          return isFault ? letters[access].toUpperCase() : letters[access];
        });
      return got.toSorted((one, other) => one.localeCompare(other)).join("");
    });
    return row([`\`${name}\``, ...columns]);
  });
  return [row(["field", ...callers]), row(["---", ...callers.map(() => "---")]), ...lines].join(
    "\n",
  );
}

/** Lists findings as Markdown, each with the request that shows it. */
export function findingsTable(findings: readonly PeerFinding[]): string {
  if (findings.length === 0) return "no findings";
  const lines = findings.map(({ caller, code, collection, field, request, status, way }) => {
    const subject = field === undefined ? collection : `${collection}.${field}`;
    return row([code, `\`${subject}\``, caller, way, `\`${shown(request)}\``, String(status)]);
  });
  return [
    row(["code", "what", "caller", "way", "request", "status"]),
    row(["---", "---", "---", "---", "---", "---"]),
    ...lines,
  ].join("\n");
}

function shown({ body, method, path }: ShownRequest): string {
  const sent =
    body === undefined ? "" : ` ${typeof body === "string" ? body : JSON.stringify(body)}`;
  const line = `${method} ${path}${sent}`.replaceAll("|", "\\|").replaceAll("`", "'");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function row(columns: readonly string[]): string {
  return `| ${columns.join(" | ")} |`;
}
