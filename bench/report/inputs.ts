import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { PartResults } from "../harness/results.ts";
import { abouts } from "./abouts.ts";
import type { PartInput } from "./render.ts";

export const bench: string = path.join(import.meta.dirname, "..");
export const docs: string = path.join(bench, "../docs");

/** Where the results of a part are kept. */
export function resultsFile(part: string): string {
  return path.join(bench, "results", `${part}.json`);
}

/** Whatever the page is made of, as it stands in `bench/`. */
export function readInputs(): readonly PartInput[] {
  return abouts.map((about) => {
    const results = readText(resultsFile(about.part));
    return {
      about,
      method: readText(path.join(bench, about.part, "method.md")) ?? "",
      ...(results !== undefined && { results: JSON.parse(results) as PartResults }),
    };
  });
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}
