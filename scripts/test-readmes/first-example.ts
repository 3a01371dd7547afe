import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codeBlocks } from "../markdown.ts";
import { readManifest, root } from "../workspace-packages.ts";

/**
 * What a reader of a package's README does first: installs the package, and runs the first example.
 */
export interface FirstExample {
  /** Relative to the root. */
  readonly readme: string;
  /** The package. */
  readonly name: string;
  /** Packages of others that the README installs with it. */
  readonly others: readonly string[];
  /** The first TypeScript block; without one, the shell commands after `npm install`. */
  readonly code: string;
  readonly language: "ts" | "sh";
}

/** Reads the first example of the README of a package. */
export function firstExample(readme: string): FirstExample {
  const text = readFileSync(join(root, readme), "utf8");
  const [shell = ""] = codeBlocks(text, "sh");
  const [install = "", ...commands] = shell.split("\n");
  const others = install
    .split(" ")
    .slice(2)
    .filter((name) => !/^(?:@fetchwork\/|fetchwork$)/.test(name));
  const { name } = readManifest(readme.replace("/README.md", ""));
  const [code] = codeBlocks(text, "ts");
  return code === undefined
    ? { readme, name, others, code: commands.join("\n"), language: "sh" }
    : { readme, name, others, code, language: "ts" };
}
