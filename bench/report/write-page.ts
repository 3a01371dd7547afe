import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bench, docs, readInputs } from "./inputs.ts";
import { render } from "./render.ts";

/** Writes the page, its picture and the tables of each part; returns the names of the files. */
export function writePage(): readonly string[] {
  const { markdown, plot, tables } = render(readInputs());
  const root = path.join(bench, "..");
  const files = new Map([[path.join(docs, "benchmarks.md"), markdown]]);
  if (plot !== undefined) files.set(path.join(docs, "plots/ratios.svg"), plot);
  for (const [part, text] of tables) files.set(path.join(bench, "results", `${part}.md`), text);
  for (const [file, text] of files) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return [...files.keys()].map((file) => path.relative(root, file));
}
