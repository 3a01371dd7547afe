import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";
import { floors } from "./floors.ts";

it("docs/ARCHITECTURE.md names files and folders that exist", () => {
  const paths = [...readText("docs/ARCHITECTURE.md").matchAll(/`(packages\/[^`]+)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("docs/ARCHITECTURE.md lists the folders of each package in the order of its floors", () => {
  const [, ...sections] = readText("docs/ARCHITECTURE.md").split("### `packages/");
  const listed = sections.map((section) => {
    const rows = section.split("\n## ")[0]?.matchAll(/^\| `([^`]+)`/gm) ?? [];
    return [section.slice(0, section.indexOf("/")), Array.from(rows, ([, folder]) => folder)];
  });
  const expected = Object.entries(floors).map(([name, entries]) => {
    const folders = entries.filter((entry) => entry !== "." && !entry.endsWith(".ts"));
    return [name, folders];
  });
  const withFolders = expected.filter(([, folders]) => folders?.length);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(withFolders));
});
