import type { ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";

/** Files up to this many characters are shown whole to other writers; else declarations. */
const wholeFile = 6_000;

/** Finished files as the writer of another file sees them; missing ones are left out. */
export async function contextOf(
  paths: readonly string[],
  read: (path: string) => Promise<string | undefined> | string | undefined,
): Promise<readonly ContextFile[]> {
  const files = await Promise.all(
    paths.map(async (path): Promise<readonly ContextFile[]> => {
      const source = await read(path);
      if (source === undefined) return [];
      if (source.length <= wholeFile) return [{ path, form: "text", text: source }];
      const text = await describeDeclarations(path, source);
      return [{ path, form: "declarations", text }];
    }),
  );
  return files.flat();
}
