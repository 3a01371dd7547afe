// Packs every package as it would be published and uses the tarballs from an empty project.
import "./require-node.cjs";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const temporary = mkdtempSync(join(tmpdir(), "fetchwork-packages-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

/**
 * @typedef {object} Tarball
 * @property {string} name
 * @property {string} folder Absolute path of the package.
 * @property {string} file Absolute path of its tarball.
 * @property {readonly string[]} entries What an application imports: the name, or name and subpath.
 * @property {readonly string[]} peers Packages that an entry needs and the package does not bring, as name and range.
 * @property {string[]} faults
 */

const tarballs = readdirSync(join(root, "packages")).map(pack);
for (const tarball of tarballs) lint(tarball);
const consumer = install(tarballs);
for (const tarball of tarballs) use(tarball, consumer);

for (const { name, faults } of tarballs) {
  console.log(
    faults.length === 0 ? `ok    ${name}` : `FAULT ${name}\n      ${faults.join("\n      ")}`,
  );
}
if (tarballs.some(({ faults }) => faults.length > 0)) process.exitCode = 1;

/**
 * @param {string} directory
 * @returns {Tarball}
 */
function pack(directory) {
  const folder = join(root, "packages", directory);
  const manifest = readJson(join(folder, "package.json"));
  const packed = run("npm", ["pack", "--json", "--pack-destination", temporary], folder);
  if (packed.status !== 0) throw new Error(`npm pack failed in ${folder}:\n${packed.output}`);
  const [{ filename, files }] = Object.values(JSON.parse(packed.stdout));
  /** @type {readonly string[]} */
  const paths = files.map((/** @type {{ path: string }} */ { path }) => path);
  const entries = Object.keys(manifest.exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => manifest.name + entry.slice(1));
  const faults = [...unwanted(paths), ...stale(paths, folder), ...missing(paths, manifest.exports)];
  const peers = Object.entries(manifest.peerDependencies ?? {}).map(
    ([name, range]) => `${name}@${range}`,
  );
  return { name: manifest.name, folder, file: join(temporary, filename), entries, peers, faults };
}

/**
 * @param {readonly string[]} paths
 * @returns {readonly string[]}
 */
function unwanted(paths) {
  const pattern =
    /(^|\/)(test|node_modules)\/|\.test\.|\.tsbuildinfo$|(^|\/)\.env|\.(db|sqlite|log)$/;
  return (
    paths
      // Projects that are made of the templates have tests.
      .filter((path) => pattern.test(path) && !path.startsWith("templates/"))
      .map((path) => `does not belong in the tarball: ${path}`)
  );
}

/**
 * @param {readonly string[]} paths
 * @param {string} folder
 * @returns {readonly string[]}
 */
function stale(paths, folder) {
  return paths
    .filter((path) => /^dist\/.*\.(js|d\.ts)(\.map)?$/.test(path))
    .filter((path) => {
      const source = path.replace(/^dist\//, "src/").replace(/\.(js|d\.ts)(\.map)?$/, ".ts");
      return !existsSync(join(folder, source));
    })
    .map((path) => `has no source any more: ${path}`);
}

/**
 * @param {readonly string[]} paths
 * @param {Readonly<Record<string, string | Readonly<Record<string, string>>>>} exports
 * @returns {readonly string[]}
 */
function missing(paths, exports) {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  return ["README.md", ...targets.map((target) => target.slice(2))]
    .filter((path) => !paths.includes(path))
    .map((path) => `is missing in the tarball: ${path}`);
}

/** @param {Tarball} tarball */
function lint({ file, faults }) {
  for (const [command, args] of /** @type {const} */ ([
    ["publint", ["run", file, "--strict"]],
    ["attw", [file, "--profile", "esm-only", "--no-color", "--no-emoji"]],
  ])) {
    const { status, output } = run(command, args, temporary);
    if (status !== 0) faults.push(`${command}: ${indent(output)}`);
  }
}

/**
 * @param {readonly Tarball[]} all
 * @returns {string} The folder of the project that has them installed.
 */
function install(all) {
  const folder = join(temporary, "consumer");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, output } = run(
    "npm",
    ["install", ...options, ...all.flatMap(({ file, peers }) => [file, ...peers])],
    folder,
  );
  if (status !== 0) throw new Error(`npm install of the tarballs failed:\n${output}`);
  return folder;
}

/**
 * Imports every entry on this Node and type-checks the import, with nothing but what an application has.
 *
 * @param {Tarball} tarball
 * @param {string} folder
 */
function use({ name, entries, faults }, folder) {
  for (const entry of entries) {
    const script = `import * as m from ${JSON.stringify(entry)};
      if (Object.keys(m).length === 0) throw new Error("exports nothing");`;
    const { status, output } = run(process.execPath, ["--input-type=module", "-e", script], folder);
    if (status !== 0) faults.push(`import of ${entry}: ${errorLine(output)}`);
  }

  writeFileSync(
    join(folder, "use.ts"),
    entries.map((entry) => `export * from "${entry}";`).join("\n"),
  );
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["ES2024", "ESNext.Disposable", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    strict: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["use.ts"] }),
  );
  const tsc = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], folder);
  // Declarations of third parties are theirs to mend; an entry that does not resolve is reported in use.ts.
  const ours = tsc.stdout
    .split("\n")
    .filter((line) => line.startsWith("use.ts(") || line.startsWith(`node_modules/${name}/dist/`));
  faults.push(...ours.map((line) => `types: ${line}`));
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error)
    throw new Error(`${command} does not start; use \`npm run check:packages\``, { cause: error });
  return { status, stdout, output: stdout + stderr };
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** @param {string} output What Node prints for an uncaught error. */
function errorLine(output) {
  return output.split("\n").find((line) => /^\w*Error\b/.test(line)) ?? indent(output);
}

/** @param {string} text */
function indent(text) {
  return text.trim().replaceAll("\n", "\n      ");
}
