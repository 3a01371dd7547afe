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
 * Applies edits in their order: all of them, or none. The text to search for has to stand in the
 * file exactly once: as it is, or else but for blanks (see {@link applyEdit}). The given map is not
 * changed.
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
      changed.set(path, endAs(changed.get(path) ?? "", edit.content));
      continue;
    }
    const text = changed.get(path);
    if (text === undefined) {
      problems.push({ index, path, kind: "missing-file", nearest: "" });
      continue;
    }
    const outcome = applyEdit(text, edit.search, edit.replace);
    if (outcome.ok) changed.set(path, outcome.text);
    else problems.push({ index, path, kind: outcome.kind, nearest: outcome.nearest });
  }
  return problems.length === 0 ? { ok: true, files: changed } : { ok: false, problems };
}

/** A text with a part of it replaced, or why it is not. */
export type PartEdit =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly kind: "empty-search" | "no-match" | "several-matches";
      readonly nearest: string;
    };

/**
 * Replaces a part that a text has exactly once: as it is, else without regard to blanks at the ends
 * of lines, else without regard to indents. In the last case the replacement is indented as the
 * text is. Its line ends and its byte order mark stay.
 */
export function applyEdit(text: string, search: string, replace: string): PartEdit {
  if (search.trim() === "") return { ok: false, kind: "empty-search", nearest: "" };
  const put = ({ start, end }: Range, part: string): PartEdit => {
    const replaced = endAs(text.slice(start, end), part);
    return { ok: true, text: endAs(text, text.slice(0, start) + replaced + text.slice(end)) };
  };
  const several: PartEdit = { ok: false, kind: "several-matches", nearest: "" };
  const start = text.indexOf(search);
  if (start !== -1) {
    const isOnce = !text.includes(search, start + 1);
    return isOnce ? put({ start, end: start + search.length }, replace) : several;
  }
  const lines = linesOf(text);
  for (const clean of [trimmedEnd, trimmed]) {
    const [range, other] = matchLines(lines, search, clean);
    if (range === undefined) continue;
    if (other !== undefined) return several;
    const part =
      clean === trimmed ? indentAs(text.slice(range.start, range.end), search, replace) : replace;
    return put(range, part);
  }
  return { ok: false, kind: "no-match", nearest: nearestTo(text, search) };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Line extends Range {
  readonly text: string;
}

const trimmedEnd = (line: string): string => line.trimEnd();
const trimmed = (line: string): string => line.trim();

function linesOf(text: string): readonly Line[] {
  let at = 0;
  return text.split("\n").map((line) => {
    const start = at;
    at += line.length + 1;
    return { text: line, start, end: start + line.length };
  });
}

/** Places where lines follow each other that are the same when they are cleaned. */
function matchLines(
  lines: readonly Line[],
  search: string,
  clean: (line: string) => string,
): readonly Range[] {
  const wanted = search.replace(/\n+$/, "").split("\n").map(clean);
  const cleaned = lines.map(({ text }) => clean(text));
  const ranges: Range[] = [];
  for (let first = 0; first + wanted.length <= lines.length; first += 1) {
    if (!wanted.every((line, offset) => cleaned[first + offset] === line)) continue;
    const last = first + wanted.length - 1;
    const end = lines[last]?.end ?? 0;
    const whole = search.endsWith("\n") && last + 1 < lines.length ? end + 1 : end;
    ranges.push({ start: lines[first]?.start ?? 0, end: whole });
  }
  return ranges;
}

/** Indents a replacement as the text has it, by what each depth of the search is in the text. */
function indentAs(found: string, search: string, replace: string): string {
  const indents = new Map<string, string>();
  const there = found.split("\n");
  for (const [index, line] of search.split("\n").entries()) {
    if (line.trim() !== "") indents.set(indentOf(line), indentOf(there[index] ?? ""));
  }
  const known = [...indents].toSorted(([left], [right]) => right.length - left.length);
  return replace
    .split("\n")
    .map((line) => {
      const indent = indentOf(line);
      const [from, to] = known.find(([one]) => indent.startsWith(one)) ?? ["", ""];
      return line.trim() === "" ? line : to + indent.slice(from.length) + line.slice(indent.length);
    })
    .join("\n");
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Keeps the line ends of a text that has CRLF only, and its byte order mark. */
export function endAs(old: string, next: string): string {
  const hasOnlyCrlf = old.includes("\r\n") && !/(?<!\r)\n/.test(old);
  const text = hasOnlyCrlf ? next.replaceAll(/\r?\n/g, "\r\n") : next;
  return old.startsWith("\uFEFF") ? `\uFEFF${text.replace(/^\uFEFF/, "")}` : text;
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
