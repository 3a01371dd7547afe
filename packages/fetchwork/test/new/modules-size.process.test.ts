import { globSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { sharedModules } from "./project-world.ts";

const block = 4096;

/** The space on a disk that entries need, as `du` counts it, in MB. */
function sizeOf(paths: readonly string[], folder: string): number {
  const sizes = paths.map((path) => Math.ceil(lstatSync(join(folder, path)).size / block) * block);
  return sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2;
}

/** The files of our own packages that match. */
function ownFiles(pattern: string, folder: string): readonly string[] {
  const patterns = ["@fetchwork/*", "fetchwork"].map((name) => `${name}/${pattern}`);
  return globSync(patterns, { cwd: folder });
}

beforeAll(() => sharedModules(), 300_000);

// Vite and the tools by which it reads modules are 35 MB, TypeScript 31 MB, oxlint 17 MB.
it("The modules of a new project need at most 142 MB, not counting a pinned Node", async () => {
  const modules = await sharedModules();
  const paths = globSync("**", { cwd: modules }).filter((path) => !/^node(?:\/|$)/.test(path));
  expect(paths.length).toBeGreaterThan(1_000);
  expect(sizeOf(paths, modules)).toBeLessThan(142);
});

it("The packages of Fetchwork in a project need at most 14 MB", async () => {
  const modules = await sharedModules();
  expect(sizeOf(ownFiles("**", modules), modules)).toBeLessThan(14);
  expect(ownFiles("**/*.map", modules)).toEqual([]);
  expect(ownFiles("src", modules)).toEqual([]);
});
