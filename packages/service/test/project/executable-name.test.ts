import { expect, it } from "vitest";
import { executableName } from "../../src/project/executable.ts";

it.each([
  ['{ "name": "notes" }', "linux", "notes"],
  ['{ "name": "@mine/notes" }', "win32", "notes.exe"],
  ["{}", "win32", "service.exe"],
] as const)("the executable of %s on %s is %s", (manifest, platform, name) => {
  expect(executableName(manifest, platform)).toBe(name);
});
