// Packs packages with those of ours that they need, and prints the line that installs them in
// another folder.
//   npm run pack -- middleware              writes the tarballs into ./packed
//   npm run pack -- http oauth2 --to ../my  writes them into another folder
import "./require-node.cjs";
import { copyFileSync, globSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packWorkspace } from "./pack-workspace.ts";
import { closureOf } from "./package-closure.ts";
import { installLine } from "./install-line.ts";
import { readManifest, root } from "./workspace-packages.ts";

const packages = globSync("packages/*", { cwd: root })
  .toSorted()
  .map((path) => readManifest(path).name);

let wanted: Wanted;
try {
  wanted = readArguments(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(error.message);
  console.error("usage: npm run pack -- <package>... [--to <folder>]");
  console.error(`packages: ${packages.map(shortName).join(", ")}`);
  process.exit(2);
}
const { names, folder } = wanted;

console.error("packing; after a change of the sources this builds them first");
const tarballs = await packWorkspace(root, new AbortController().signal);
mkdirSync(folder, { recursive: true });
const files = [...closureOf(names, tarballs).values()].map(({ file }) => {
  const copy = join(folder, basename(file));
  copyFileSync(file, copy);
  return copy;
});
console.error(`${files.length} packages in ${folder}; run this in the folder of your project:\n`);
console.log(installLine(files.toSorted()));
console.error(
  "\nExamples run in a file such as app.mts, with Node 22.19, 24 or later: node app.mts",
);

interface Wanted {
  /** Names of packages, with their scope. */
  readonly names: readonly string[];
  /** Absolute path of the folder for the tarballs. */
  readonly folder: string;
}

/** @throws TypeError for wrong arguments */
function readArguments(args: string[]): Wanted {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { to: { type: "string", default: join(root, "packed") } },
  });
  if (positionals.length === 0) throw new TypeError("no package given");
  // npm runs a script in the root of the repository, from whichever folder it was called.
  const folderOfCaller = process.env["INIT_CWD"] ?? "";
  return { names: positionals.map(packageName), folder: resolve(folderOfCaller, values.to) };
}

/** @throws TypeError for an unknown package */
function packageName(word: string): string {
  const name = packages.find((candidate) => candidate === word || shortName(candidate) === word);
  if (name === undefined) throw new TypeError(`unknown package "${word}"`);
  return name;
}

function shortName(name: string): string {
  return name.replace("@fetchwork/", "");
}
