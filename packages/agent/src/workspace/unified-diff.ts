import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";

/** Limits of a comparison, in changed lines and milliseconds; beyond, two texts are shown whole. */
const limits = { maxEditLength: 2_000, timeout: 1_000 };

/**
 * The change of a file as `diff -u` writes it, as `git apply` and `patch` read it; empty where
 * nothing changes. `undefined` stands for a file that is not there.
 */
export function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): string {
  if (before === after) return "";
  const oldName = before === undefined ? "/dev/null" : `a/${path}`;
  const newName = after === undefined ? "/dev/null" : `b/${path}`;
  return (
    createTwoFilesPatch(oldName, newName, before ?? "", after ?? "", undefined, undefined, {
      ...limits,
      context: 3,
      headerOptions: FILE_HEADERS_ONLY,
    }) ?? wholeDiff(oldName, newName, before ?? "", after ?? "")
  );
}

/** Every line of the old text goes, and every line of the new one comes. */
function wholeDiff(oldName: string, newName: string, before: string, after: string): string {
  const [gone] = structuredPatch(oldName, newName, before, "").hunks;
  const [come] = structuredPatch(oldName, newName, "", after).hunks;
  const hunk = {
    oldStart: 1,
    oldLines: gone?.oldLines ?? 0,
    newStart: 1,
    newLines: come?.newLines ?? 0,
    lines: [...(gone?.lines ?? []), ...(come?.lines ?? [])],
  };
  const patch = {
    oldFileName: oldName,
    newFileName: newName,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [hunk],
  };
  return formatPatch(patch, FILE_HEADERS_ONLY);
}
