/** One change to one file: a part of it is replaced, or the whole file. */
export type Edit =
  | { readonly path: string; readonly search: string; readonly replace: string }
  | { readonly path: string; readonly content: string };

/** An edit that cannot be applied. */
export interface EditProblem {
  /** Place in the list, from 0. */
  readonly index: number;
  readonly path: string;
  readonly kind: "missing-file" | "empty-search" | "no-match" | "several-matches";
  /** The part of the file that is most like what was searched for; empty where nothing is. */
  readonly nearest: string;
}

/** All edits applied, or none. */
export type EditOutcome =
  | { readonly ok: true; readonly files: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problems: readonly EditProblem[] };

/**
 * Applies edits in their order: all of them, or none. What is searched for has to stand in the file exactly once, as it
 * is, or else without regard to blanks at the ends of lines. The given map is not changed.
 */
export function applyEdits(
  files: ReadonlyMap<string, string>,
  edits: readonly Edit[],
): EditOutcome {
  const changed = new Map(files);
  const problems: EditProblem[] = [];
  for (const [index, edit] of edits.entries()) {
    const { path } = edit;
    if ("content" in edit) {
      changed.set(path, edit.content);
      continue;
    }
    const text = changed.get(path);
    if (text === undefined) problems.push({ index, path, kind: "missing-file", nearest: "" });
    else if (edit.search.trim() === "") {
      problems.push({ index, path, kind: "empty-search", nearest: "" });
    } else {
      const match = findOnce(text, edit.search);
      if (typeof match === "string") {
        const nearest = match === "no-match" ? nearestTo(text, edit.search) : "";
        problems.push({ index, path, kind: match, nearest });
      } else {
        const replaced = endAs(text.slice(match.start, match.end), edit.replace);
        changed.set(path, text.slice(0, match.start) + replaced + text.slice(match.end));
      }
    }
  }
  return problems.length === 0 ? { ok: true, files: changed } : { ok: false, problems };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function findOnce(text: string, search: string): Range | "no-match" | "several-matches" {
  const start = text.indexOf(search);
  if (start !== -1) {
    const again = text.indexOf(search, start + 1) !== -1;
    return again ? "several-matches" : { start, end: start + search.length };
  }
  const ranges = matchLines(text, search);
  const [range] = ranges;
  if (range === undefined) return "no-match";
  return ranges.length > 1 ? "several-matches" : range;
}

/** Places where the lines are the same but for blanks at their ends. */
function matchLines(text: string, search: string): readonly Range[] {
  const wanted = search
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => line.trimEnd());
  const lines = text.split("\n");
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const ranges: Range[] = [];
  for (let first = 0; first + wanted.length <= lines.length; first += 1) {
    if (!wanted.every((line, offset) => lines[first + offset]?.trimEnd() === line)) continue;
    const last = first + wanted.length - 1;
    const end = (starts[last] ?? 0) + (lines[last]?.length ?? 0);
    const whole = search.endsWith("\n") && end < text.length ? end + 1 : end;
    ranges.push({ start: starts[first] ?? 0, end: whole });
  }
  return ranges;
}

/** Keeps the line ends of a file that has CRLF. */
function endAs(old: string, next: string): string {
  return old.includes("\r\n") && !next.includes("\r\n") ? next.replaceAll("\n", "\r\n") : next;
}

/** The window of as many lines that shares the most lines with what was searched for. */
function nearestTo(text: string, search: string): string {
  const wanted = new Set(
    search
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
  const lines = text.split("\n").slice(0, 20_000);
  const size = search.split("\n").length;
  const shared = lines.map((line) => (wanted.has(line.trim()) ? 1 : 0));
  let sum = shared.slice(0, size).reduce<number>((total, next) => total + next, 0);
  let best = { sum, first: 0 };
  for (let first = 1; first + size <= lines.length; first += 1) {
    sum += (shared[first + size - 1] ?? 0) - (shared[first - 1] ?? 0);
    if (sum > best.sum) best = { sum, first };
  }
  return best.sum === 0
    ? ""
    : lines
        .slice(best.first, best.first + size)
        .join("\n")
        .slice(0, 2_000);
}
