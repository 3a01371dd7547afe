import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Pause in milliseconds between two looks at what another process makes. */
const pause = 200;

/**
 * Makes a folder that several processes need. One of them makes it, in a folder next to it, and the
 * others wait; when that one ends without it, another one starts over.
 */
export async function makeOnce(
  folder: string,
  make: (target: string) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    if (!(await take(lock))) {
      await setTimeout(pause);
      continue;
    }
    try {
      // Another process may have finished between the look and the lock.
      if (existsSync(folder)) return;
      const target = await mkdtemp(`${folder}.new-`);
      try {
        await make(target);
        await rename(target, folder);
      } catch (error) {
        await rm(target, { recursive: true, force: true });
        throw error;
      }
    } finally {
      await rm(lock, { force: true });
    }
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const holder = Number(await readFile(lock, "utf8").catch(() => "0"));
  if (holder > 0 && !isAlive(holder)) await rm(lock, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
