// Packs every package as it would be published and uses the tarballs from an empty project.
import "./require-node.cjs";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeBlocks } from "./markdown.ts";
import { installTarballs, packPackages, root, run } from "./pack-packages.mjs";

const temporary = mkdtempSync(join(tmpdir(), "fetchwork-packages-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

/** @typedef {import("./pack-packages.mjs").Tarball & { faults: string[] }} Tarball */

/** @type {readonly Tarball[]} */
const tarballs = packPackages(temporary).map((tarball) => ({
  ...tarball,
  faults: [...unwanted(tarball), ...stale(tarball), ...missing(tarball)],
}));
for (const tarball of tarballs) lint(tarball);
const consumer = join(temporary, "consumer");
installTarballs(tarballs, consumer);
for (const tarball of tarballs) use(tarball, consumer);
useOlderTypes();

for (const { name, faults } of tarballs) {
  console.log(
    faults.length === 0 ? `ok    ${name}` : `FAULT ${name}\n      ${faults.join("\n      ")}`,
  );
}
if (tarballs.some(({ faults }) => faults.length > 0)) process.exitCode = 1;

/**
 * @param {import("./pack-packages.mjs").Tarball} tarball
 * @returns {readonly string[]}
 */
function unwanted({ paths }) {
  const pattern =
    /^src\/|(^|\/)(test|node_modules)\/|\.test\.|(^|\/)(\.env|tsconfig\.)|\.(tsbuildinfo|map|db|sqlite|log)$/;
  return (
    paths
      // Projects that are made of the templates have tests.
      .filter((path) => pattern.test(path) && !path.startsWith("templates/"))
      .map((path) => `does not belong in the tarball: ${path}`)
  );
}

/**
 * @param {import("./pack-packages.mjs").Tarball} tarball
 * @returns {readonly string[]}
 */
function stale({ paths, folder }) {
  return paths
    .filter((path) => /^dist\/.*\.(js|d\.ts)$/.test(path))
    .filter((path) => {
      const source = path.replace(/^dist\//, "src/").replace(/\.(js|d\.ts)$/, ".ts");
      return !existsSync(join(folder, source));
    })
    .map((path) => `has no source any more: ${path}`);
}

/**
 * @param {import("./pack-packages.mjs").Tarball} tarball
 * @returns {readonly string[]}
 */
function missing({ paths, exports }) {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  return ["README.md", "LICENSE", ...targets.map((target) => target.slice(2))]
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
 * Imports every entry on this Node and type-checks the import, with nothing but what an application
 * has. Of the code of the README only the exports are judged: whether their types can be named from
 * outside of the package.
 *
 * @param {Tarball} tarball
 * @param {string} folder
 */
function use({ name, folder: sources, entries, faults }, folder) {
  for (const entry of entries) {
    const script = `import * as m from ${JSON.stringify(entry)};
      if (Object.keys(m).length === 0) throw new Error("exports nothing");`;
    const { status, output } = run(process.execPath, ["--input-type=module", "-e", script], folder);
    if (status !== 0) faults.push(`import of ${entry}: ${errorLine(output)}`);
  }

  writeFileSync(
    join(folder, "use.ts"),
    entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n"),
  );
  const examples = codeBlocks(readFileSync(join(sources, "README.md"), "utf8"), "ts");
  const files = examples.map((example, index) => {
    writeFileSync(join(folder, `readme-${index}.ts`), `${example}\nexport {};\n`);
    return `readme-${index}.ts`;
  });
  const compilerOptions = {
    declaration: true,
    module: "nodenext",
    target: "es2024",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const browser = ["ES2024", "ESNext.Disposable", "DOM", "DOM.Iterable", "DOM.AsyncIterable"];
  const inReadme = typeErrors(folder, {
    compilerOptions: { ...compilerOptions, lib: browser },
    files: ["use.ts", ...files],
  });
  // An example may use what is not installed; of third parties the next project judges.
  faults.push(
    ...inReadme.filter(
      (line) =>
        line.startsWith("use.ts(") ||
        line.startsWith(`node_modules/${name}/dist/`) ||
        /^readme-\d+\.ts\(.* error TS(2742|2883|4\d{3}):/.test(line),
    ),
  );
  // As in most projects that are for Node alone, and without `skipLibCheck`: what the declarations
  // import counts too.
  faults.push(
    ...typeErrors(folder, {
      compilerOptions: { ...compilerOptions, lib: ["ES2024"] },
      files: ["use.ts"],
    }),
  );
  const portable = entries.filter((entry) => !needsNode(entry));
  if (portable.length === 0) return;
  writeFileSync(
    join(folder, "portable.ts"),
    portable.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n"),
  );
  faults.push(
    ...typeErrors(folder, {
      compilerOptions: { ...compilerOptions, lib: browser, types: [] },
      files: ["portable.ts"],
    }),
  );
}

/**
 * Type-checks the imports of all packages with the oldest compiler and types of Node that are
 * supported, without `skipLibCheck`. The compiler of this repository adds "DOM.Iterable" to "DOM"
 * by itself, this one does not.
 */
function useOlderTypes() {
  const older = join(temporary, "older");
  mkdirSync(older);
  writeFileSync(join(older, "package.json"), '{ "private": true }');
  const packages = ["typescript@5.9", "@types/node@22"];
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const installed = run("npm", ["install", ...options, ...packages], older);
  if (installed.status !== 0) throw new Error(`npm install failed:\n${installed.output}`);

  const entries = tarballs.flatMap((tarball) => tarball.entries);
  writeFileSync(
    join(consumer, "use.ts"),
    entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n"),
  );
  for (const lib of [["ES2023"], ["ES2023", "DOM"]]) {
    const compilerOptions = {
      module: "nodenext",
      target: "es2023",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: ["node"],
      typeRoots: [join(older, "node_modules/@types")],
      lib,
    };
    const compiler = join(older, "node_modules/typescript/bin/tsc");
    const errors = typeErrors(consumer, { compilerOptions, files: ["use.ts"] }, compiler);
    for (const error of errors) {
      const owner = tarballs.find(({ name }) => error.startsWith(`node_modules/${name}/`));
      (owner ?? tarballs[0])?.faults.push(
        `${packages.join(", ")}, lib ${lib.join(", ")}: ${error}`,
      );
    }
  }
}

/**
 * Whether an entry may ask for `@types/node`.
 *
 * @param {string} entry
 */
function needsNode(entry) {
  const isForNode =
    /^(?:fetchwork|@fetchwork\/(?:agent|documents|rest|service|verify)|@fetchwork\/(?:agent|service)\/.+)$/;
  return isForNode.test(entry) || /\/(?:node|sender|serve|undici)(?:\/|$)/.test(entry);
}

/**
 * @param {string} folder
 * @param {object} settings What `tsconfig.json` has.
 * @param {string} compiler Path of `tsc`.
 * @returns {readonly string[]}
 */
function typeErrors(folder, settings, compiler = join(root, "node_modules/typescript/bin/tsc")) {
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const tsc = run(process.execPath, [compiler], folder);
  return tsc.stdout.split("\n").filter((line) => line.includes(": error TS"));
}

/** @param {string} output What Node prints for an uncaught error. */
function errorLine(output) {
  return output.split("\n").find((line) => /^\w*Error\b/.test(line)) ?? indent(output);
}

/** @param {string} text */
function indent(text) {
  return text.trim().replaceAll("\n", "\n      ");
}
