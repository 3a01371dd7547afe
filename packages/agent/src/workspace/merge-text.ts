import { diff3Merge } from "node-diff3";

/** The union of two changes to a text; undefined when they touch the same lines. */
export function mergeText(base: string, theirs: string, ours: string): string | undefined {
  const parts = diff3Merge(linesOf(theirs), linesOf(base), linesOf(ours), {
    excludeFalseConflicts: true,
  });
  const merged: string[] = [];
  for (const part of parts) {
    if (part.ok === undefined) return undefined;
    merged.push(...part.ok);
  }
  return merged.join("");
}

/** Lines with their ends, so that the last one is compared with what ends it. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
