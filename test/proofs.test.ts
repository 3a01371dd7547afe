import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";

const rows = [
  ...readText("docs/proofs.md").matchAll(/^\| .+\]\(\.\.\/(.+)\) +\| `(.+)` +\|$/gm),
].map(([, file = "", command = ""]) => ({ file, command }));

it("docs/proofs.md names tests that exist, each once", () => {
  const files = rows.map(({ file }) => file);
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(files).size).toBe(files.length);
});

it("docs/proofs.md has, for each test, the command that runs it alone", () => {
  const expected = rows.map(({ file }) =>
    file.includes(".process.") ? `npm run test:all -- ${file}` : `npm test -- ${file}`,
  );
  expect(rows.map(({ command }) => command)).toEqual(expected);
});
