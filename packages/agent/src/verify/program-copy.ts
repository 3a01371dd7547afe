import { lchown, mkdtemp, readdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { neededPackages, type PackagesInUse, usePackages } from "./fetch-packages.ts";
import type { Sandbox } from "./sandbox.ts";
import { sandboxUser } from "./sealed.ts";

/** Where a program is run. */
export interface CopyOptions {
  readonly sandbox: Sandbox;
  /**
   * The folder that the files come from: pictures, and other files that are no text, are copied
   * from it, and the packages that are installed there are linked. Default: none.
   */
  readonly from?: string | undefined;
  /** By path, what is no longer as it is in that folder. Default: nothing. */
  readonly changed?: ReadonlyMap<string, unknown> | undefined;
  /** Ends the wait for packages; the program is then used without them. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** Maximum bytes of a file that is copied as it is: what a process in the sandbox may write. */
const maxCopied = 512 * 1024 * 1024;

/**
 * Copies a program to where nothing of it is lost, and removes the copy afterwards.
 *
 * @param use hears the copy's folder, and the sandbox in which the program's packages can be seen
 */
export async function withCopy<T>(
  files: ReadonlyMap<string, string>,
  { sandbox, from, changed, signal }: CopyOptions,
  use: (folder: string, sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-agent-"));
  try {
    // Their sizes were checked where they came from.
    const copy = await ConfinedFolder.open(folder, { maxFileBytes: Infinity });
    const source =
      from === undefined
        ? undefined
        : await ConfinedFolder.open(from, { maxFileBytes: maxCopied, mustExist: true });
    for (const [path, text] of files) {
      // Files that are not text are known without their content.
      const isUnread = text === "" && changed?.has(path) !== true;
      const bytes = isUnread ? await source?.readBytes(path) : undefined;
      await copy.write(path, bytes ?? text, { sync: false });
    }
    using packages = await packagesFor(files, copy.root, { sandbox, from, source, signal });
    const linked = await linkPackages(packages?.folder, copy.root);
    const user = sandbox.level === "sealed" ? sandboxUser() : undefined;
    if (user !== undefined) {
      const all = await readdir(copy.root, { recursive: true });
      for (const path of ["", ...all]) await lchown(join(copy.root, path), user, user);
    }
    return await use(copy.root, {
      level: sandbox.level,
      registry: sandbox.registry,
      exec(command, { readOnly = [], ...options }) {
        const shown = linked === undefined ? readOnly : [...readOnly, linked];
        return sandbox.exec(command, { ...options, readOnly: shown });
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The packages that the program needs: those of its folder, or fetched ones where the folder has
 * none, or has those of another package.json.
 */
async function packagesFor(
  files: ReadonlyMap<string, string>,
  copy: string,
  {
    sandbox,
    from = copy,
    source,
    signal,
  }: CopyOptions & { readonly source: ConfinedFolder | undefined },
): Promise<PackagesInUse | undefined> {
  const folder = join(from, "node_modules");
  const isThere = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
  const needed = neededPackages(files);
  const { registry } = sandbox;
  if (registry !== undefined && needed !== undefined) {
    const before = isThere ? ((await source?.read("package.json")) ?? "") : "";
    if (needed !== neededPackages(new Map([["package.json", before]]))) {
      const lock = files.get("package-lock.json");
      const packages = await usePackages(needed, lock, { sandbox, registry, signal });
      if (packages !== undefined) return packages;
    }
  }
  return isThere ? { folder, [Symbol.dispose]: () => undefined } : undefined;
}

/** Packages are too many to be copied, and are foreign code. Returns the folder they are in. */
async function linkPackages(folder: string | undefined, copy: string): Promise<string | undefined> {
  const place = join(copy, "node_modules");
  // An edit may have put files there.
  if (folder === undefined || (await stat(place).catch(() => undefined)) !== undefined) {
    return undefined;
  }
  // A junction needs no rights on Windows; elsewhere the kind counts for nothing.
  const packages = await realpath(folder);
  // A link of a hostile program, or of a package's script, would show the sandbox any folder; and
  // packages that lie elsewhere do not find each other.
  if (basename(packages) !== "node_modules") return undefined;
  await symlink(packages, place, "junction");
  return packages;
}
