// Compiles and runs each TypeScript block of the READMEs alone, and twice, with the packed packages
// in an empty project. The first example of each package runs as pasted, in a project that has only
// that package.
import "../require-node.cjs";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { packWorkspace } from "../pack-workspace.ts";
import { codeBlocks } from "../markdown.ts";
import { run } from "../pack-packages.mjs";
import { packagePages, readManifest, root } from "../workspace-packages.ts";
import { firstExample } from "./first-example.ts";
import { installPackages } from "./install-packages.ts";
import { runBlock } from "./run-block.ts";
import { runFirstExample } from "./run-first-example.ts";
import { startBlog } from "./start-blog.ts";
import { startStandIns } from "./stand-ins.ts";

/** Packages of others that the blocks import, at the versions of this repository. */
const otherPackages = [
  "express",
  "@types/express",
  "fastify",
  "koa",
  "@types/koa",
  "ws",
  "@types/ws",
  "zod",
  "@types/node",
];

// For work on one of them: `npm run test:readmes -- oauth2`.
const words = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), "fetchwork-readmes-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const packages = globSync("packages/*", { cwd: root }).toSorted();
const manifests = packages.map((folder) => readManifest(folder));
const ours = manifests.map(({ name }) => name);
const peers = manifests
  .flatMap(({ peerDependencies = {} }) => Object.entries(peerDependencies))
  .filter(([name]) => !ours.includes(name))
  .map(([name, range]) => `${name}@${range}`);
const others = globSync("{README.md,docs/*.md,examples/*/README.md}", { cwd: root });
const readmes = [...others, ...packagePages()]
  .toSorted()
  .filter((readme) => words.every((word) => readme.includes(word)));
const examples = readmes
  .filter((path) => /^packages\/[^/]+\/README\.md$/.test(path))
  // `npm create` runs that program without installing it; `npm run publish:dry` does the same.
  .filter((path) => path !== "packages/create-fetchwork/README.md")
  .map(firstExample);
const blocks = readmes
  .flatMap((readme) =>
    codeBlocks(readFileSync(join(root, readme), "utf8"), "ts").map((text, index) => ({
      name: `${readme}, ts block ${index + 1}`,
      file: `${dirname(readme).replaceAll("/", "-")}-${basename(readme, ".md")}-${index + 1}.ts`,
      isExample: index === 0 && examples.some((example) => example.readme === readme),
      text,
    })),
  )
  // Files of a project, which test/guides.process.test.ts makes.
  .filter(({ text }) => !text.startsWith("// src/"));
if (blocks.length + examples.length === 0) throw new Error("there are no blocks");

// Built once, before two install at the same time.
await packWorkspace(root, AbortSignal.timeout(600_000));
const faults = (await Promise.all([tryExamples(), tryBlocks()])).flat();
if (faults.length > 0) {
  console.error(faults.join("\n\n"));
  process.exitCode = 1;
}
console.log(
  `${blocks.length} blocks of the READMEs, ${examples.length} packages alone, ${faults.length} faults`,
);

/** Installs each package alone, and runs the first example of its README, twice. */
async function tryExamples(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const example of examples) {
    const { readme, name, others } = example;
    const project = await installPackages([name], {
      folder: join(temporary, "alone", dirname(readme)),
      others: others.map(withVersion),
    });
    for (const time of ["first", "second"]) {
      const fault = await runFirstExample(example, project);
      if (fault !== undefined) found.push(`${readme}, first example, ${time} run:\n${fault}`);
    }
  }
  return found;
}

/**
 * Installs all packages in one project; compiles all blocks there, and runs those that are no first
 * example.
 */
async function tryBlocks(): Promise<readonly string[]> {
  const project = await installPackages(ours, {
    folder: join(temporary, "together"),
    others: [...peers, ...otherPackages.map(withVersion)],
  });
  for (const { file, text } of blocks) writeFileSync(join(project, file), `${text}\nexport {};\n`);
  return [...compile(project), ...(await runBlocks(project))];
}

/** Compiles each block as a separate module, as a strict project does. */
function compile(project: string): readonly string[] {
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  };
  // What imports a file of the same project is compiled there, by test/readme-snippets.test.ts.
  const files = blocks.filter(({ text }) => !text.includes(' from "./')).map(({ file }) => file);
  if (files.length === 0) return [];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], project);
  return tsc.status === 0 ? [] : [tsc.output];
}

/** Runs the blocks with stand-ins for the services that they name, twice. */
async function runBlocks(project: string): Promise<readonly string[]> {
  const standIns = await startStandIns();
  const authority = join(temporary, "ca.pem");
  writeFileSync(authority, standIns.ca);
  const keys = {
    MASTER_KEY: "a master key of thirty-two characters",
    JWT_SECRET: "a signing secret of thirty-two characters",
  };
  const blog = await startBlog(temporary, keys);
  const environment = {
    ...keys,
    FETCHWORK_STAND_INS: JSON.stringify({ ...standIns.ports, blog: blog.port }),
    FETCHWORK_BASE_URL: "http://127.0.0.1:11434/v1",
    FETCHWORK_MODEL: "scripted",
    NODE_EXTRA_CA_CERTS: authority,
    HOME: temporary,
    WEBHOOK_SECRET: "a webhook secret",
  };
  const found: string[] = [];
  for (const { name, file } of blocks.filter(({ isExample }) => !isExample)) {
    const folder = join(temporary, "runs", file);
    // Blocks about static files serve this folder.
    mkdirSync(join(folder, "public"), { recursive: true });
    for (const time of ["first", "second"]) {
      const fault = await runBlock({ file: join(project, file), folder, environment });
      if (fault !== undefined) found.push(`${name}, ${time} run:\n${fault}`);
    }
  }
  await Promise.all([standIns.close(), blog.stop()]);
  return found;
}

/** A package of others, at the version of this repository. */
function withVersion(name: string): string {
  const { version } = readManifest(`node_modules/${name}`);
  return `${name}@${version}`;
}
