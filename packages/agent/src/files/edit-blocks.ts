import type { Edit } from "./apply-edits.ts";

/** The edits in an answer, or why it has none that can be trusted. */
export type EditBlocks =
  | { readonly form: "edits"; readonly edits: readonly Edit[] }
  /** There is no block: the answer is something else, perhaps a whole file. */
  | { readonly form: "none" }
  /** A block has no end, or more than two parts. */
  | { readonly form: "broken" };

const start = /^<{7} SEARCH\s*$/;
const middle = /^={7}\s*$/;
const end = /^>{7} REPLACE\s*$/;

/**
 * Reads blocks of lines to search for and lines to put there, as models write them in text:
 * `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, each on a separate line. Text between the blocks
 * is left out.
 */
export function readEditBlocks(answer: string, path: string): EditBlocks {
  const edits: Edit[] = [];
  let search: string[] | undefined;
  let replace: string[] | undefined;
  for (const line of answer.split(/\r?\n/)) {
    if (start.test(line)) {
      if (search !== undefined) return { form: "broken" };
      search = [];
    } else if (search === undefined) {
      if (end.test(line)) return { form: "broken" };
    } else if (middle.test(line)) {
      // A line that looks like the middle may belong to the file: which is which cannot be told.
      if (replace !== undefined) return { form: "broken" };
      replace = [];
    } else if (end.test(line)) {
      if (replace === undefined) return { form: "broken" };
      edits.push({ path, search: asLines(search), replace: asLines(replace) });
      search = undefined;
      replace = undefined;
    } else (replace ?? search).push(line);
  }
  if (search !== undefined) return { form: "broken" };
  return edits.length === 0 ? { form: "none" } : { form: "edits", edits };
}

/** Whole lines, so that no part of a longer line matches and no empty line remains. */
function asLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
