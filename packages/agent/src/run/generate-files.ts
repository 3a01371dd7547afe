import { Semaphore } from "@fetchwork/kit";
import type { FileSpec } from "../project/project-plan.ts";
import { schedule } from "../files/schedule.ts";

/** A file, and the paths of those that have to be written before it. */
export interface OrderedFile {
  readonly file: FileSpec;
  readonly after: readonly string[];
}

/** Files in the order of their levels, each after all that it uses from earlier levels. */
export function inWritingOrder(files: readonly FileSpec[]): readonly OrderedFile[] {
  const levels = schedule(files).entries();
  const levelOf = new Map(
    Array.from(levels).flatMap(([level, paths]) => paths.map((path) => [path, level] as const)),
  );
  const level = (path: string): number => levelOf.get(path) ?? Infinity;
  return files
    .toSorted((one, other) => level(one.path) - level(other.path))
    .map((file) => {
      const after = file.dependsOn.filter((path) => level(path) < level(file.path));
      return { file, after };
    });
}

/**
 * Calls `write` for every file, as many at once as allowed. A file follows as soon as all that it
 * uses from earlier levels is written. After a failure none is begun; calls that are running, and
 * will be paid for, are finished first.
 */
export async function generateFiles(
  files: readonly FileSpec[],
  concurrency: number,
  write: (file: FileSpec) => Promise<void>,
): Promise<void> {
  const slots = new Semaphore(concurrency);
  const failures: unknown[] = [];
  const ends = new Map<string, Promise<void>>();
  const run = async ({ file, after }: OrderedFile): Promise<void> => {
    await Promise.all(after.flatMap((path) => ends.get(path) ?? []));
    await slots.acquire();
    try {
      if (failures.length === 0) await write(file);
    } catch (error) {
      failures.push(error);
    } finally {
      slots.release();
    }
  };
  for (const ordered of inWritingOrder(files)) ends.set(ordered.file.path, run(ordered));
  await Promise.all(ends.values());
  if (failures.length > 0) throw failures[0];
}
