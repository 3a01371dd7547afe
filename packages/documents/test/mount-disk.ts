import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unprivilegedUser } from "./postgres-server.ts";

/**
 * Why no disk of a separate size can be made, if so: it takes root, and more in some containers.
 */
export const noDiskReason: string | undefined = noDisk();

function noDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (status === 0) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : "mounting is not allowed";
}

/** A disk in memory, mounted on a folder. */
export interface Disk {
  readonly folder: string;
  /** Unmounts the disk and removes the folder. */
  remove(): void;
}

/** Mounts a disk of a number of bytes on a temporary folder. */
export function mountDisk(size: number): Disk {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder]);
  const owner = unprivilegedUser();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  return {
    folder,
    remove() {
      // What still has a file open there keeps it until it ends, and nobody else sees it.
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Changes the size of a disk, in bytes; less than what is used is refused. */
export function resizeDisk(folder: string, size: number): void {
  execFileSync("mount", ["-o", `remount,size=${size}`, folder], { stdio: "pipe" });
}
