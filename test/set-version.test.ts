import { expect, it } from "vitest";
import { withVersion } from "../scripts/set-version.ts";

const change = { from: "0.1.0", to: "0.2.0", date: "2026-01-31" };

it.each([
  ["package.json", '{\n  "version": "0.1.0",\n', '{\n  "version": "0.2.0",\n'],
  [
    "examples/blog/package.json",
    '  "version": "0.1.0",\n    "@fetchwork/rest": "0.1.0",\n    "other": "0.1.0"\n',
    '  "version": "0.1.0",\n    "@fetchwork/rest": "0.2.0",\n    "other": "0.1.0"\n',
  ],
  [
    "packages/a/src/version.ts",
    'export const VERSION = "0.1.0";',
    'export const VERSION = "0.2.0";',
  ],
  ["packages/a/src/b.ts", 'const version = "0.1.0";', 'const version = "0.2.0";'],
  ["packages/a/src/c.ts", '    version: "0.1.0",', '    version: "0.1.0",'],
  ["packages/a/src/d.ts", 'const version = "0x1y0";', 'const version = "0x1y0";'],
  [
    "CHANGELOG.md",
    "## 0.1.0 (unreleased)\n\n## 0.0.9 (2025-01-01)\n",
    "## 0.2.0 (2026-01-31)\n\n## 0.0.9 (2025-01-01)\n",
  ],
])("A release writes its version into %s where the old one is ours", (path, text, expected) => {
  expect(withVersion(path, text, change)).toBe(expected);
});
