// Packs all packages, which must be built, and publishes them to the registry that npm is
// configured with.
//   node scripts/publish/index.ts            asks npm only what it would publish
//   node scripts/publish/index.ts --publish  publishes with provenance, only in a workflow
import "../require-node.cjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packPackages, root, run } from "../pack-packages.mjs";
import { repositoryOf } from "../published-manifest.ts";
import { publishOrder } from "./publish-order.ts";

const { values } = parseArgs({ options: { publish: { type: "boolean", default: false } } });
if (values.publish && repositoryOf(root) === undefined) {
  console.error('set "repository" in package.json: provenance names the repository of a package');
  process.exit(1);
}

const temporary = mkdtempSync(join(tmpdir(), "fetchwork-publish-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

for (const { name, version, file } of publishOrder(packPackages(temporary))) {
  // A release that failed half-way is completed by running it again.
  if (values.publish && isPublished(`${name}@${version}`)) {
    console.log(`${name}@${version} is published already`);
    continue;
  }
  const mode = values.publish ? ["--provenance"] : ["--dry-run"];
  const tag = version.includes("-") ? "next" : "latest";
  const options = ["--access", "public", "--tag", tag, "--loglevel", "error"];
  const { status, output } = run("npm", ["publish", file, ...options, ...mode], temporary);
  if (status !== 0) throw new Error(`npm publish of ${name} failed:\n${output}`);
  console.log(`${values.publish ? "published" : "would publish"} ${name}@${version}`);
}

function isPublished(spec: string): boolean {
  const { status, output } = run("npm", ["view", spec, "version"], temporary);
  if (status === 0) return output.trim() !== "";
  if (output.includes("E404")) return false;
  throw new Error(`npm view ${spec} failed:\n${output}`);
}
