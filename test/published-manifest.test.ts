import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  repositoryFields,
  repositoryOf,
  writePublishedManifest,
} from "../scripts/published-manifest.ts";

const address = "https://github.com/owner/name";

/** Makes a folder with a `package.json`. */
function folderWith(manifest: object): string {
  const folder = mkdtempSync(join(tmpdir(), "published-manifest-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  return folder;
}

describe("the manifest of a published package", () => {
  it("gets repository, homepage and bugs from the address that the root has", () => {
    const root = folderWith({ repository: address });
    const copy = folderWith({ name: "@fetchwork/kit", version: "1.0.0" });
    writePublishedManifest(copy, { root, directory: "packages/kit" });
    expect(JSON.parse(readFileSync(join(copy, "package.json"), "utf8"))).toEqual({
      name: "@fetchwork/kit",
      version: "1.0.0",
      repository: { type: "git", url: `git+${address}.git`, directory: "packages/kit" },
      homepage: `${address}/tree/main/packages/kit#readme`,
      bugs: { url: `${address}/issues` },
    });
  });

  it("has no entries for sources, which are not packed", () => {
    const target = { "@fetchwork/source": "./src/a.ts", default: "./dist/a.js" };
    const copy = folderWith({ name: "a", exports: { ".": target } });
    writePublishedManifest(copy, { root: folderWith({}), directory: "packages/a" });
    expect(JSON.parse(readFileSync(join(copy, "package.json"), "utf8"))).toEqual({
      name: "a",
      exports: { ".": { default: "./dist/a.js" } },
    });
  });

  it.each(["github:owner/name", "git@github.com:owner/name", `${address}?a`, `${address}/`, ""])(
    "refuses the address %j",
    (repository) => {
      expect(() => repositoryFields(repository, "packages/kit")).toThrow(TypeError);
    },
  );
});

describe("repositoryOf", () => {
  it.each([
    address,
    `git+${address}.git`,
    { url: address },
    { type: "git", url: `git+${address}.git` },
  ])("reads the URL of a person's browser from %j", (repository) => {
    expect(repositoryOf(folderWith({ repository }))).toBe(address);
  });
});
