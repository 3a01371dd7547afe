import { diffArrays } from "diff";

/** Maximum lines that one side may have added and taken away; more take seconds to find. */
const maxChanges = 2_000;

/** Lines that stand in the place of others. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Both changes of a text; undefined when they touch the same lines or comparing is slow. */
export function mergeText(base: string, theirs: string, ours: string): string | undefined {
  const lines = linesOf(base);
  const left = changesOf(lines, theirs);
  const right = changesOf(lines, ours);
  if (left === undefined || right === undefined) return undefined;
  const merged: string[] = [];
  let done = 0;
  for (const { start, end } of regionsOf([...left, ...right])) {
    const before = lines.slice(start, end).join("");
    const [one = "", other = ""] = [left, right].map((changes) =>
      apply(changes, lines, { start, end }),
    );
    if (one !== other && one !== before && other !== before) return undefined;
    merged.push(lines.slice(done, start).join(""), one === before ? other : one);
    done = end;
  }
  return merged.join("") + lines.slice(done).join("");
}

/** Lines with their ends, so that the last one is compared with what ends it. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function changesOf(base: string[], text: string): readonly Change[] | undefined {
  const parts = diffArrays(base, linesOf(text), { maxEditLength: maxChanges });
  const changes: Change[] = [];
  let at = 0;
  for (const { added, removed, value } of parts ?? []) {
    if (!added && !removed) {
      at += value.length;
      continue;
    }
    const change = { start: at, end: removed ? at + value.length : at, lines: added ? value : [] };
    at = change.end;
    // Removed lines and the lines that replace them are one change.
    const last = changes.at(-1);
    if (last?.end !== change.start) changes.push(change);
    else
      changes[changes.length - 1] = { ...last, end: at, lines: [...last.lines, ...change.lines] };
  }
  return parts === undefined ? undefined : changes;
}

/** Parts of the base that are changed; those that touch each other are one. */
function regionsOf(changes: readonly Change[]): readonly Pick<Change, "start" | "end">[] {
  const regions: { readonly start: number; end: number }[] = [];
  for (const { start, end } of changes.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = regions.at(-1);
    if (last === undefined || start > last.end) regions.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return regions;
}

/** Text of a part of the base after changes. */
function apply(
  changes: readonly Change[],
  base: readonly string[],
  { start, end }: Pick<Change, "start" | "end">,
): string {
  const result: string[] = [];
  let done = start;
  for (const change of changes) {
    if (change.start < start || change.end > end) continue;
    result.push(...base.slice(done, change.start), ...change.lines);
    done = change.end;
  }
  return [...result, ...base.slice(done, end)].join("");
}
