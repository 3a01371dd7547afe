import type { ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";

/** Files up to so many characters are shown to the writers of others whole; of longer ones, what they declare. */
const wholeFile = 6_000;

/** Finished files as the writer of another file sees them; those that are not there are left out. */
export async function contextOf(
  paths: readonly string[],
  sources: ReadonlyMap<string, string>,
): Promise<readonly ContextFile[]> {
  const known = paths.flatMap((path) => {
    const source = sources.get(path);
    return source === undefined ? [] : [{ path, source }];
  });
  return Promise.all(known.map(({ path, source }) => contextFile(path, source)));
}

/** One finished file, as the writer of another one sees it. */
export async function contextFile(path: string, source: string): Promise<ContextFile> {
  if (source.length <= wholeFile) return { path, form: "text", text: source };
  return { path, form: "declarations", text: await describeDeclarations(path, source) };
}
