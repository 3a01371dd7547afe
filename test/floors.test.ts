import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { readPackages, type WorkspacePackage } from "../scripts/workspace-packages.ts";
import { floors } from "./floors.ts";

const packages = readPackages("packages");

/**
 * Files of a package's `src`, with the files of the same package that each imports, types included.
 */
function importsInside({ sources }: WorkspacePackage): ReadonlyMap<string, readonly string[]> {
  return new Map(
    sources.map(({ path, imports }) => [
      path.slice("src/".length),
      imports
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => posix.relative("src", posix.join(posix.dirname(path), specifier))),
    ]),
  );
}

/**
 * The number of the floor that a file is on: 0 is the top. Undefined where no floor is listed for
 * it.
 */
function floorOf(file: string, list: readonly string[]): number | undefined {
  if (["index.ts", "internal.ts"].includes(posix.basename(file))) return -1;
  const folder = list
    .filter((name) => file === name || file.startsWith(`${name}/`) || name === ".")
    .toSorted((a, b) => b.length - a.length)[0];
  return folder === undefined ? undefined : list.indexOf(folder);
}

/** Finds one circle of imports, as the files that it passes. */
function findCircle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next, [...way, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return undefined;
}

describe.each(Object.entries(floors))("packages/%s", (name, list) => {
  const pkg = packages.find(({ folder }) => folder === `packages/${name}`);
  const graph = pkg ? importsInside(pkg) : new Map<string, readonly string[]>();

  it("has a floor for every file, and a file on every floor", () => {
    const files = [...graph.keys()];
    expect(files).not.toEqual([]);
    expect(files.filter((file) => floorOf(file, list) === undefined)).toEqual([]);
    const used = new Set(files.map((file) => floorOf(file, list)));
    expect(list.filter((_, floor) => !used.has(floor))).toEqual([]);
  });

  it("imports downwards only", () => {
    const upwards = [...graph].flatMap(([file, imports]) =>
      imports
        .filter((imported) => (floorOf(imported, list) ?? 0) < (floorOf(file, list) ?? 0))
        .map((imported) => `${file} -> ${imported}`),
    );
    expect(upwards).toEqual([]);
  });

  it("has no circle of imports", () => {
    expect(findCircle(graph)).toBeUndefined();
  });

  it("has at most 25 files in a folder", () => {
    const perFolder = Map.groupBy(graph.keys(), (file) => posix.dirname(file));
    const full = [...perFolder].filter(([, files]) => files.length > 25);
    expect(full.map(([folder, files]) => `${folder}: ${String(files.length)}`)).toEqual([]);
  });
});
