import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../pack-packages.mjs";
import { pins } from "./runtimes.ts";

/**
 * Installs the pinned runtimes beside the repository's own packages, unless they are there. They take 930 MB, so they are
 * no dependencies of the workspace. Gives the folder of their packages.
 */
export function installRuntimes(): string {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("the runtimes are pinned for Linux on x64, and this is another system");
  }
  const folder = join(root, "node_modules/.cache/fetchwork-runtimes");
  const lock = "package-lock.json";
  // npm writes its own copy of the lock when it is done.
  const isHere =
    existsSync(join(folder, "node_modules/.package-lock.json")) &&
    readFileSync(join(folder, lock), "utf8") === readFileSync(join(pins, lock), "utf8");
  if (!isHere) {
    mkdirSync(folder, { recursive: true });
    for (const file of ["package.json", lock]) copyFileSync(join(pins, file), join(folder, file));
    const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    const { status, output } = run("npm", ["ci", ...options], folder);
    if (status !== 0) throw new Error(`npm ci of the runtimes failed:\n${output}`);
  }
  return join(folder, "node_modules");
}
