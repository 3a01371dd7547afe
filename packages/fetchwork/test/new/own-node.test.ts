import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { needsPinnedNode } from "../../src/new/own-node.ts";
import { commandOf } from "../../src/new/run-program.ts";
import { temporaryFolder } from "./project-world.ts";

describe.each([
  { platform: "linux", name: "node", between: ":", modules: "/a/node_modules/.bin" },
  {
    platform: "win32",
    name: "node.exe",
    between: ";",
    modules: String.raw`C:\a\node_modules\.bin`,
  },
] as const)("needsPinnedNode on $platform", ({ platform, name, between, modules }) => {
  it("finds the Node of the system after the folder of a package", async () => {
    const folder = await temporaryFolder();
    await symlink(process.execPath, join(folder, name));
    const path = [modules, "/not-there", folder].join(between);
    expect(needsPinnedNode(path, platform)).toBe(false);
  });

  it("needs one where there is none, or only another file", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "other"));
    await writeFile(join(folder, "other", name), "no program");
    expect(needsPinnedNode(folder, platform)).toBe(true);
    expect(needsPinnedNode(join(folder, "other"), platform)).toBe(true);
    expect(needsPinnedNode(undefined, platform)).toBe(true);
  });
});

describe("commandOf", () => {
  it("starts npm by the shell of Windows, which alone can", () => {
    expect(commandOf("npm", ["install"], "win32")).toEqual([
      "cmd.exe",
      ["/d", "/s", "/c", "npm", "install"],
    ]);
  });

  it.each([
    ["npm", "linux"],
    ["git", "win32"],
  ] as const)("starts %s on %s by itself", (program, platform) => {
    expect(commandOf(program, ["x"], platform)).toEqual([program, ["x"]]);
  });
});
