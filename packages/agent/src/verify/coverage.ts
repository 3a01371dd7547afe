import { canFindSyntaxErrors } from "../check/find-syntax-errors.ts";
import type { Verifier } from "./verifier.ts";

/** The checked files of a program. */
export interface Coverage {
  /** How many files something has read that can find a fault in them. */
  readonly checked: number;
  /** Paths of sources and settings that nothing checks, such as Python without an interpreter. */
  readonly unchecked: readonly string[];
}

/** Texts for people, data, media, and what tools write. */
const isNoSource =
  /\.(?:md|mdx|markdown|txt|rst|adoc|csv|tsv|log|lock|svg|png|jpe?g|gif|webp|avif|ico|bmp|pdf|woff2?|ttf|otf|mp3|mp4|ogg|wav|webm|map)$|(?:^|\/)(?:LICEN[CS]E|NOTICE|COPYING|AUTHORS|README|CHANGELOG|\.[\w-]+)$/i;

/**
 * Number of files that the check or a verifier can find faults in, and the paths of other sources.
 * Only verifiers that apply to the program count. Empty files have no faults.
 *
 * @param program all files of the program. Default: `files`
 */
export function coverageOf(
  files: ReadonlyMap<string, string>,
  verifiers: readonly Verifier[] = [],
  program: ReadonlyMap<string, string> = files,
): Coverage {
  const running = verifiers.filter((verifier) => verifier.applies(program));
  const unchecked: string[] = [];
  let checked = 0;
  for (const [path, text] of files) {
    const isChecked =
      canFindSyntaxErrors(path, text) || running.some(({ reads }) => reads?.(path) !== false);
    if (isChecked) checked += 1;
    else if (text !== "" && !isNoSource.test(path)) unchecked.push(path);
  }
  return { checked, unchecked };
}
