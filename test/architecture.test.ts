import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";

it("docs/ARCHITECTURE.md names files and folders that exist", () => {
  const paths = [...readText("docs/ARCHITECTURE.md").matchAll(/`(packages\/[^`]+)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
