// Follows `changeset version`, which sets the versions of the packages: writes that version
// wherever else it stands.
import "./require-node.cjs";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./pack-packages.mjs";
import { readManifest, root } from "./workspace-packages.ts";

/** What changes from one version to the next. */
export interface VersionChange {
  readonly from: string;
  readonly to: string;
  /** Day of the release: `2026-01-31`. */
  readonly date: string;
}

/** The text of a file with the new version; the same text where the file has none. */
export function withVersion(path: string, text: string, change: VersionChange): string {
  const { from, to, date } = change;
  const old = from.replaceAll(".", String.raw`\.`);
  if (path === "CHANGELOG.md") {
    return text.replace(/^## .*\(unreleased\)$/m, `## ${to} (${date})`);
  }
  if (path === "package.json") {
    return text.replace(new RegExp(`^( {2}"version": )"${old}"`, "m"), `$1"${to}"`);
  }
  if (path.endsWith("package.json")) {
    const ours = new RegExp(`^( {4}"(?:@fetchwork/[^"]+|fetchwork)": )"${old}"`, "gm");
    return text.replace(ours, `$1"${to}"`);
  }
  return text.replace(new RegExp(`^((?:export )?const version = )"${old}"`, "im"), `$1"${to}"`);
}

if (import.meta.main) {
  const { version: from } = readManifest(".");
  const { version: to } = readManifest("packages/fetchwork");
  if (from === to) throw new Error("no changeset asks for a release: run npm run changeset first");
  const date = new Date().toISOString().slice(0, 10);
  const patterns = [
    "package.json",
    "CHANGELOG.md",
    "examples/*/package.json",
    "packages/*/src/**/*.ts",
  ];
  for (const path of globSync(patterns, { cwd: root })) {
    const text = readFileSync(join(root, path), "utf8");
    const changed = withVersion(path.replaceAll("\\", "/"), text, { from, to, date });
    if (changed !== text) writeFileSync(join(root, path), changed);
  }
  const locked = run("npm", ["install", "--package-lock-only", "--ignore-scripts"], root);
  if (locked.status !== 0) throw new Error(`npm install failed:\n${locked.output}`);
  console.log(`the next release is ${to}; review and commit it`);
}
