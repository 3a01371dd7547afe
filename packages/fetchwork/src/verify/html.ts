import { escapeHtml } from "@fetchwork/kit";
import type { Cost, VerifyReport } from "@fetchwork/verify";
import type { Fault } from "./faults.ts";

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: bold; }
th, td { border: 1px solid color-mix(in srgb, currentColor 30%, transparent); padding: 0.25rem 0.75rem; text-align: left; vertical-align: top; }
code { overflow-wrap: anywhere; }
`;

/** Writes a report as one page, which loads nothing and runs no script. */
export function htmlOf(
  report: Pick<VerifyReport, "costs" | "reads" | "requests" | "service" | "skipped">,
  faults: readonly Fault[],
): string {
  const { costs, reads, requests, service, skipped } = report;
  const title = escapeHtml(`fetchwork verify: ${service}`);
  const found = faults.map(({ code, file, fix, line, message, subject }) =>
    row([code, subject, message, fix, `${file}:${line}`]),
  );
  const tables = Object.entries(reads).map(([resource, kinds]) => readsTable(resource, kinds));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style}</style>
<h1>${title}</h1>
<p>${requests} requests, findings: ${faults.length}</p>
<h2>Findings</h2>
${found.length === 0 ? "<p>None.</p>" : table("", ["code", "about", "what", "fix", "where"], found)}
<h2>Who reads which field</h2>
${tables.join("\n")}
${costs.length === 0 ? "" : `<h2>Cost of lists</h2>\n${costsTable(costs)}`}
${skipped.length === 0 ? "" : `<h2>Not tried</h2>\n<ul>${skipped.map((one) => `<li>${escapeHtml(one)}`).join("")}</ul>`}
</html>
`;
}

function readsTable(resource: string, kinds: Readonly<Record<string, readonly string[]>>): string {
  const callers = Object.keys(kinds);
  const fields = [...new Set(Object.values(kinds).flat())].toSorted();
  const rows = fields.map((field) =>
    row([field, ...callers.map((caller) => (kinds[caller]?.includes(field) ? "reads" : ""))]),
  );
  return table(resource, ["field", ...callers], rows);
}

function costsTable(costs: readonly Cost[]): string {
  const rows = costs.map(({ caller, few, many, request, resource, way }) =>
    row([resource, way, caller, `${request.method} ${request.path}`, String(few), String(many)]),
  );
  const heads = ["resource", "way", "caller", "request", "ms with a tenth", "ms with all"];
  return table("", heads, rows);
}

function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((one) => `<th>${escapeHtml(one)}`).join("");
  const named = caption === "" ? "" : `<caption>${escapeHtml(caption)}</caption>`;
  return `<table>${named}\n<tr>${head}\n${rows.join("\n")}\n</table>`;
}

function row(cells: readonly string[]): string {
  return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}`).join("")}`;
}
