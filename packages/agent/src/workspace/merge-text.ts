import { diff3Merge } from "node-diff3";
import { alignParts, isComparable, linesOf } from "./compare-lines.ts";

/** The union of two changes to a text; undefined when they touch the same lines, or comparing them would take too long. */
export function mergeText(base: string, theirs: string, ours: string): string | undefined {
  const texts = [theirs, base, ours].map(linesOf);
  const [all = []] = texts;
  const merged: string[] = [];
  let done = 0;
  for (const part of alignParts(texts)) {
    const [left = [], middle = [], right = []] = part.map(([from, to], index) =>
      (texts[index] ?? []).slice(from, to),
    );
    if (!isComparable(left, middle) || !isComparable(right, middle)) return undefined;
    const [[from, to] = [0, 0]] = part;
    merged.push(all.slice(done, from).join(""));
    done = to;
    for (const { ok } of diff3Merge(left, middle, right, { excludeFalseConflicts: true })) {
      if (ok === undefined) return undefined;
      merged.push(ok.join(""));
    }
  }
  return merged.join("") + all.slice(done).join("");
}
