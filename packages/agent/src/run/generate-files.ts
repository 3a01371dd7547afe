import type { FileSpec } from "../project/project-plan.ts";
import { schedule } from "../files/schedule.ts";

/**
 * Calls `write` for every file, as many at once as allowed, each as soon as all that it uses from earlier levels is
 * written. After a failure none is begun; those that are running, and will be paid for, are finished first.
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
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  await new Promise<void>((resolve, reject) => {
    const next = (): void => {
      if (running === 0 && failure !== undefined) return reject(failure.error);
      if (running === 0 && ready.length === 0) return resolve();
      while (running < concurrency && ready.length > 0 && failure === undefined) {
        const file = ready.shift();
        if (file === undefined) break;
        running += 1;
        write(file).then(
          () => {
            running -= 1;
            for (const user of users.get(file.path) ?? []) {
              const left = (waiting.get(user.path) ?? 1) - 1;
              waiting.set(user.path, left);
              if (left === 0) ready.push(user);
            }
            next();
          },
          (error: unknown) => {
            running -= 1;
            failure ??= { error };
            next();
          },
        );
      }
    };
    next();
  });
}
