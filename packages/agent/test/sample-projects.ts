import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "projects");

/**
 * The small projects that were written by hand for the checks, by name. Each is one text with its
 * files after another.
 */
export function sampleProjects(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const names = readdirSync(folder).toSorted();
  return new Map(names.map((name) => [name.replace(".txt", ""), readSample(join(folder, name))]));
}

/** Reads one such text. */
export function readSample(file: string): ReadonlyMap<string, string> {
  const parts = readFileSync(file, "utf8").split(/^--- /m).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end).trim(), part.slice(end + 1)];
    }),
  );
}
