// Compiles and runs each TypeScript block of the READMEs alone, and twice, with the packed packages in an empty project.
import "../require-node.cjs";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { codeBlocks } from "../markdown.ts";
import { installTarballs, packPackages, root, run } from "../pack-packages.mjs";
import { runBlock } from "./run-block.ts";
import { startBlog } from "./start-blog.ts";
import { startStandIns } from "./stand-ins.ts";

/** Packages of others that the blocks import, at the versions of this repository. */
const otherPackages = ["express", "@types/express", "ws", "@types/ws", "zod", "@types/node"];

// For work on one of them: `npm run test:readmes -- oauth2`.
const words = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), "fetchwork-readmes-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const project = join(temporary, "project");
const others = otherPackages.map((name) => `${name}@${versionOf(name)}`);
const [first, ...rest] = packPackages(temporary);
if (first === undefined) throw new Error("there are no packages");
installTarballs([{ ...first, peers: [...first.peers, ...others] }, ...rest], project);

const blocks = globSync("{README.md,docs/*.md,packages/*/README.md,examples/*/README.md}", {
  cwd: root,
})
  .toSorted()
  .filter((readme) => words.every((word) => readme.includes(word)))
  .flatMap((readme) =>
    codeBlocks(readFileSync(join(root, readme), "utf8"), "ts").map((text, index) => ({
      name: `${readme}, ts block ${index + 1}`,
      file: `${dirname(readme).replaceAll("/", "-")}-${basename(readme, ".md")}-${index + 1}.ts`,
      text,
    })),
  );
if (blocks.length === 0) throw new Error("there are no blocks");
for (const { file, text } of blocks) writeFileSync(join(project, file), `${text}\nexport {};\n`);

const faults = [...compile(), ...(await runAll())];
if (faults.length > 0) {
  console.error(faults.join("\n\n"));
  process.exitCode = 1;
}
console.log(`${blocks.length} blocks of the READMEs, ${faults.length} faults`);

/** Compiles each block as a module of its own, as a strict project does. */
function compile(): readonly string[] {
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  };
  // What imports a file of its own project is compiled there, by test/readme-snippets.test.ts.
  const files = blocks.filter(({ text }) => !text.includes(' from "./')).map(({ file }) => file);
  if (files.length === 0) return [];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], project);
  return tsc.status === 0 ? [] : [tsc.output];
}

async function runAll(): Promise<readonly string[]> {
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
  for (const { name, file } of blocks) {
    const folder = join(temporary, "runs", file);
    mkdirSync(folder, { recursive: true });
    for (const time of ["first", "second"]) {
      const fault = await runBlock({ file: join(project, file), folder, environment });
      if (fault !== undefined) found.push(`${name}, ${time} run:\n${fault}`);
    }
  }
  await Promise.all([standIns.close(), blog.stop()]);
  return found;
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(root, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
