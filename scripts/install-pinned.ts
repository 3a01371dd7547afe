import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./pack-packages.mjs";

/**
 * Installs the packages of a folder with a `package.json` and a lock file into
 * `node_modules/.cache/<name>`, unless they are there. They are large and no dependencies of the
 * workspace. Returns the path of their `node_modules`.
 */
export function installPinned(pins: string, name: string): string {
  const folder = join(root, "node_modules/.cache", name);
  const lock = "package-lock.json";
  // npm writes its own copy of the lock when it is done.
  const isHere =
    existsSync(join(folder, "node_modules/.package-lock.json")) &&
    readFileSync(join(folder, lock), "utf8") === readFileSync(join(pins, lock), "utf8");
  if (!isHere) {
    mkdirSync(folder, { recursive: true });
    for (const file of ["package.json", lock]) copyFileSync(join(pins, file), join(folder, file));
    const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    const { status, output } = run("npm", ["ci", "--loglevel=error", ...options], folder);
    if (status !== 0) throw new Error(`npm ci of ${name} failed:\n${output}`);
  }
  return join(folder, "node_modules");
}
