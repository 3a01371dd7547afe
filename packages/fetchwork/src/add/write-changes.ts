import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes files of a project: first under temporary names, so that a failure leaves the project
 * unchanged. The last file is renamed last, because it imports the others.
 */
export async function writeChanges(
  folder: string,
  changes: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const written: { readonly temporary: string; readonly target: string }[] = [];
  const made: string[] = [];
  try {
    for (const [path, text] of changes) {
      signal.throwIfAborted();
      const target = join(folder, path);
      const first = await mkdir(dirname(target), { recursive: true });
      if (first !== undefined) made.push(dirname(target));
      const temporary = `${target}.${randomUUID()}~`;
      written.push({ temporary, target });
      await writeFile(temporary, text, { flag: "wx" });
    }
    signal.throwIfAborted();
  } catch (error) {
    for (const { temporary } of written) await rm(temporary, { force: true });
    for (const empty of made.toReversed()) await rmdir(empty).catch(() => undefined);
    throw error;
  }
  for (const { temporary, target } of written) await rename(temporary, target);
}
