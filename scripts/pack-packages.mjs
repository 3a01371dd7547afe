// Packs every package as it would be published, and installs the tarballs into an empty project.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { neededBy } from "./package-closure.ts";
import { writePublishedManifest } from "./published-manifest.ts";

/** The root of the repository. */
export const root = resolve(import.meta.dirname, "..");

/**
 * @typedef {object} Tarball
 * @property {string} name
 * @property {string} version
 * @property {string} folder Absolute path of the package.
 * @property {string} file Absolute path of its tarball.
 * @property {readonly string[]} paths What is in it.
 * @property {Readonly<Record<string, string | Readonly<Record<string, string>>>>} exports
 * @property {readonly string[]} entries What an application imports: the name, or name and subpath.
 * @property {readonly string[]} needs Names of the packages that it needs.
 * @property {readonly string[]} peers Packages that an entry needs and the package does not bring,
 * as name and range.
 */

/**
 * Packs all packages. They must be built.
 *
 * @param {string} destination Folder of the tarballs.
 * @returns {readonly Tarball[]}
 */
export function packPackages(destination) {
  return readdirSync(join(root, "packages")).map((directory) => {
    const folder = join(root, "packages", directory);
    // The manifest of a copy gets the address of the repository.
    const copy = join(destination, "copies", directory);
    cpSync(folder, copy, {
      recursive: true,
      filter: (source) => basename(source) !== "node_modules",
    });
    writePublishedManifest(copy, { root, directory: `packages/${directory}` });
    const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"));
    const packed = run("npm", ["pack", "--json", "--pack-destination", destination], copy);
    if (packed.status !== 0) throw new Error(`npm pack failed in ${folder}:\n${packed.output}`);
    const [{ filename, files }] = Object.values(JSON.parse(packed.stdout));
    const entries = Object.keys(manifest.exports)
      .filter((entry) => entry !== "./package.json")
      .map((entry) => manifest.name + entry.slice(1));
    const peers = Object.entries(manifest.peerDependencies ?? {}).map(
      ([name, range]) => `${name}@${range}`,
    );
    return {
      name: manifest.name,
      version: manifest.version,
      needs: neededBy(manifest),
      folder,
      file: join(destination, filename),
      paths: files.map((/** @type {{ path: string }} */ { path }) => path),
      exports: manifest.exports,
      entries,
      peers,
    };
  });
}

/**
 * Makes a project that has the tarballs installed, and nothing else but the peers of their entries.
 *
 * @param {readonly Tarball[]} tarballs
 * @param {string} folder Not there yet.
 */
export function installTarballs(tarballs, folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const { status, output } = run(
    "npm",
    ["install", ...options, ...tarballs.flatMap(({ file, peers }) => [file, ...peers])],
    folder,
  );
  if (status !== 0) throw new Error(`npm install of the tarballs failed:\n${output}`);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error) throw new Error(`${command} does not start`, { cause: error });
  return { status, stdout, output: stdout + stderr };
}
