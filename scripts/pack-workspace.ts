import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "../packages/fetchwork/src/new/run-program.ts";
import { makeOnce } from "./make-once.ts";
import { writePublishedManifest, repositoryOf } from "./published-manifest.ts";
import { closureOf, neededBy, type NeedingManifest } from "./package-closure.ts";

/** A packed package. */
export interface Tarball {
  /** Absolute path. */
  readonly file: string;
  /** Names of the packages that it needs. */
  readonly needs: readonly string[];
}

/**
 * Builds and packs the packages of the repository as they would be published, and returns their
 * tarballs by package name. They are cached below `node_modules/.cache` until a source changes; the
 * sources are not modified.
 */
export async function packWorkspace(
  root: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Tarball>> {
  const names = (await readdir(join(root, "packages"))).toSorted();
  const cache = join(root, "node_modules/.cache/fetchwork-tarballs", digest(root, names));
  await makeOnce(cache, (target) => pack(root, { names, target, signal }));
  const tarballs = new Map<string, Tarball>();
  for (const folder of names) {
    const manifest = readManifest(join(root, "packages", folder));
    const { name, version } = manifest;
    const file = join(cache, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
    tarballs.set(name, { file, needs: neededBy(manifest) });
  }
  return tarballs;
}

/** The tarballs of packages and of all of ours that they need, by package name. */
export async function tarballsOf(
  root: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const needed = closureOf(names, await packWorkspace(root, signal));
  return new Map(Array.from(needed, ([name, { file }]) => [name, file]));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest; // Our own.
}

interface Manifest extends NeedingManifest {
  readonly name: string;
  readonly version: string;
}

async function pack(
  root: string,
  {
    names,
    target,
    signal,
  }: { readonly names: readonly string[]; readonly target: string; readonly signal: AbortSignal },
): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "fetchwork-build-"));
  try {
    for (const file of ["package.json", "tsconfig.base.json", "tsconfig.build.json"]) {
      await cp(join(root, file), join(copy, file));
    }
    for (const name of names) {
      const from = join(root, "packages", name);
      const isSource = (path: string): boolean =>
        !/^(?:dist|test|node_modules|.*\.tsbuildinfo)$/.test(relative(from, path));
      await cp(from, join(copy, "packages", name), { recursive: true, filter: isSource });
    }
    await linkPackages(root, copy);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: copy, signal });
    for (const name of names) {
      const directory = `packages/${name}`;
      writePublishedManifest(join(copy, directory), { root, directory });
    }
    const packed = join(copy, "packed");
    await mkdir(packed);
    const folders = names.map((name) => `./packages/${name}`);
    await run(
      "npm",
      ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed, ...folders],
      { cwd: copy, signal },
    );
    await cp(packed, target, { recursive: true });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** The packages of others are those of the repository; our own are the copies. */
async function linkPackages(root: string, copy: string): Promise<void> {
  const modules = join(root, "node_modules");
  for (const name of await readdir(modules)) {
    if (name.startsWith(".") || name === "@fetchwork" || name === "fetchwork") continue;
    await mkdir(join(copy, "node_modules"), { recursive: true });
    await symlink(join(modules, name), join(copy, "node_modules", name));
  }
  await mkdir(join(copy, "node_modules/@fetchwork"));
  for (const name of await readdir(join(modules, "@fetchwork"))) {
    const target = join(copy, "packages", name);
    if (existsSync(target)) await symlink(target, join(copy, "node_modules/@fetchwork", name));
  }
}

/** A digest of everything that the tarballs are made of. */
function digest(root: string, names: readonly string[]): string {
  const hash = createHash("sha256").update(`${repositoryOf(root)}\0`);
  for (const name of names) {
    const folder = join(root, "packages", name);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => join(parentPath, file))
      .filter(
        (file) => !/^(?:dist|test|node_modules)\/|\.tsbuildinfo$/.test(relative(folder, file)),
      );
    for (const file of files.toSorted()) {
      hash.update(`${relative(root, file)}\0`).update(readFileSync(file));
    }
  }
  return hash.digest("hex").slice(0, 16);
}
