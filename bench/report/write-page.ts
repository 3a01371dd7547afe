import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { docs, readInputs } from "./inputs.ts";
import { render } from "./render.ts";

/** Writes the page and its pictures, and removes outdated pictures; returns the names of the files. */
export function writePage(): readonly string[] {
  const { markdown, plots } = render(readInputs());
  const folder = path.join(docs, "plots");
  mkdirSync(folder, { recursive: true });
  const known = new Set(plots.map(({ file }) => file));
  for (const name of readdirSync(folder)) {
    if (name.endsWith(".svg") && !known.has(name)) rmSync(path.join(folder, name));
  }
  for (const { file, svg } of plots) writeFileSync(path.join(folder, file), svg);
  writeFileSync(path.join(docs, "benchmarks.md"), markdown);
  return ["docs/benchmarks.md", ...plots.map(({ file }) => `docs/plots/${file}`)];
}
