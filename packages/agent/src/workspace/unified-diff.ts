import { diffIndices } from "node-diff3";
import { alignParts, isComparable, linesOf } from "./compare-lines.ts";

/** What a diff is shown with. */
export interface UnifiedDiffOptions {
  /** Lines around a change that stay. Default: 3. */
  readonly context?: number | undefined;
}

/**
 * The change of a file as `diff -u` writes it, as `git apply` and `patch` read it; empty where nothing changes.
 * `undefined` stands for a file that is not there.
 */
export function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  { context = 3 }: UnifiedDiffOptions = {},
): string {
  if (before === after) return "";
  const old = linesOf(before ?? "");
  const fresh = linesOf(after ?? "");
  const head = `--- ${before === undefined ? "/dev/null" : quoted(`a/${path}`)}\n+++ ${after === undefined ? "/dev/null" : quoted(`b/${path}`)}\n`;
  return head + hunksOf(old, fresh, context).join("");
}

interface Change {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

function hunksOf(old: readonly string[], fresh: readonly string[], context: number): string[] {
  const changes = changesOf(old, fresh);
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const end = last?.at(-1)?.oldEnd;
    if (last !== undefined && end !== undefined && change.oldStart - end <= 2 * context) {
      last.push(change);
    } else groups.push([change]);
  }
  return groups.map((group) => hunk(group, old, fresh, context));
}

/** What changes, in the order of the lines; a whole part where comparing it would take too long. */
function changesOf(old: readonly string[], fresh: readonly string[]): readonly Change[] {
  return alignParts([old, fresh]).flatMap(([before = none, after = none]): readonly Change[] => {
    const [oldStart, oldEnd] = before;
    const [newStart, newEnd] = after;
    const left = old.slice(oldStart, oldEnd);
    const right = fresh.slice(newStart, newEnd);
    if (!isComparable(left, right)) return [{ oldStart, oldEnd, newStart, newEnd }];
    return diffIndices(left, right).map(
      ({ buffer1: [first, length], buffer2: [second, size] }) => ({
        oldStart: oldStart + first,
        oldEnd: oldStart + first + length,
        newStart: newStart + second,
        newEnd: newStart + second + size,
      }),
    );
  });
}

const none = [0, 0] as const;

function hunk(
  group: readonly Change[],
  old: readonly string[],
  fresh: readonly string[],
  context: number,
): string {
  const [first] = group;
  const last = group.at(-1);
  if (first === undefined || last === undefined) return "";
  const before = Math.min(context, first.oldStart);
  const after = Math.min(context, old.length - last.oldEnd);
  const oldStart = first.oldStart - before;
  const newStart = first.newStart - before;
  const lines: string[] = [];
  const add = (mark: string, from: readonly string[], start: number, end: number): void => {
    for (const line of from.slice(start, end)) {
      lines.push(
        line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
      );
    }
  };
  let at = oldStart;
  for (const { oldStart: start, oldEnd, newStart: from, newEnd } of group) {
    add(" ", old, at, start);
    add("-", old, start, oldEnd);
    add("+", fresh, from, newEnd);
    at = oldEnd;
  }
  add(" ", old, at, last.oldEnd + after);
  const oldLength = last.oldEnd + after - oldStart;
  const newLength = last.newEnd + after - newStart;
  return `@@ -${range(oldStart, oldLength)} +${range(newStart, newLength)} @@\n${lines.join("")}`;
}

function range(start: number, length: number): string {
  // An empty range stands after the line before it.
  return `${length === 0 ? start : start + 1}${length === 1 ? "" : `,${length}`}`;
}

/** As git quotes names that could be read in another way. */
function quoted(name: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[\0-\x1f"\\\x7f]/.test(name) ? JSON.stringify(name) : name;
}
