import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Store } from "../src/index.ts";
import { unprivilegedUser } from "./postgres-server.ts";
import { counters } from "./process-collections.ts";

/** Why no disk of a size of its own can be made, if so: it takes root, and more in some containers. */
export const noDiskReason: string | undefined = noDisk();

function noDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (status === 0) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : "mounting is not allowed";
}

/** Makes a disk in memory, which is gone when the test ends. */
export function makeDisk(size: number): string {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder]);
  onTestFinished(() => {
    // What still has a file open there keeps it until it ends, and nobody else sees it.
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true });
  });
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

/** Makes a disk of {@link makeDisk} larger. */
export function enlargeDisk(disk: string, size: number): void {
  execFileSync("mount", ["-o", `remount,size=${size}`, disk]);
}

/** Adds documents until that fails; gives the error and the names of those that were acknowledged. */
export async function writeUntilRefused(
  store: Store,
  size = 3000,
): Promise<{ readonly error: unknown; readonly names: readonly string[] }> {
  const names: string[] = [];
  for (;;) {
    // What compresses well would take long to fill a disk.
    const name = `${names.length} ${randomBytes(size).toString("base64")}`;
    try {
      await store.collection(counters).insert({ name, value: 1 });
    } catch (error) {
      return { error, names };
    }
    names.push(name);
  }
}
