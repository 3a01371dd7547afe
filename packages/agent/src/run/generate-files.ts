import type { FileSpec } from "../project/project-plan.ts";
import { schedule } from "../files/schedule.ts";

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
  const levelOf = new Map<string, number>();
  for (const [level, paths] of schedule(files).entries()) {
    for (const path of paths) levelOf.set(path, level);
  }
  const waiting = new Map<string, number>();
  const users = new Map<string, FileSpec[]>();
  for (const file of files) {
    const own = levelOf.get(file.path) ?? 0;
    const needed = new Set(file.dependsOn.filter((path) => (levelOf.get(path) ?? own) < own));
    waiting.set(file.path, needed.size);
    for (const path of needed) users.set(path, [...(users.get(path) ?? []), file]);
  }
  const ready = files.filter(({ path }) => waiting.get(path) === 0);
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const start = (file: FileSpec): void => {
    const task = run(file).finally(() => running.delete(task));
    running.add(task);
  };
  const run = async (file: FileSpec): Promise<void> => {
    try {
      await write(file);
    } catch (error) {
      failures.push(error);
      return;
    }
    for (const user of users.get(file.path) ?? []) {
      const left = (waiting.get(user.path) ?? 1) - 1;
      waiting.set(user.path, left);
      if (left === 0) ready.push(user);
    }
  };
  for (;;) {
    while (running.size < concurrency && ready.length > 0 && failures.length === 0) {
      const file = ready.shift();
      if (file !== undefined) start(file);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (failures.length > 0) throw failures[0];
}
