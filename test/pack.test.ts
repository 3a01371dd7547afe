import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closureOf, neededBy } from "../scripts/package-closure.ts";
import { installLine } from "../scripts/install-line.ts";
import { readManifest, root } from "../scripts/workspace-packages.ts";

const folders =
  "agent create-fetchwork documents endpoint fetchwork http kit middleware oauth2 rest service verify webhooks";
const manifests = folders.split(" ").map((folder) => readManifest(`packages/${folder}`));
const packages = new Map(
  manifests.map((manifest) => [manifest.name, { needs: neededBy(manifest) }]),
);

/** The names that the script packs for one, without their scope. */
function packed(name: string): string {
  const names = [...closureOf([name], packages).keys()];
  return names
    .map((found) => found.replace("@fetchwork/", ""))
    .toSorted()
    .join(" ");
}

describe("the packages that are packed together", () => {
  it.each([
    ["@fetchwork/kit", "kit"],
    ["@fetchwork/endpoint", "endpoint"],
    ["@fetchwork/http", "http kit"],
    ["@fetchwork/middleware", "http kit middleware"],
    ["@fetchwork/oauth2", "http kit oauth2"],
    // `documents` is an optional peer.
    ["@fetchwork/webhooks", "http kit webhooks"],
    ["@fetchwork/rest", "documents endpoint http kit middleware rest"],
    ["fetchwork", "documents endpoint fetchwork http kit middleware oauth2 rest service webhooks"],
    [
      "create-fetchwork",
      "create-fetchwork documents endpoint fetchwork http kit middleware oauth2 rest service webhooks",
    ],
  ])("of %s are %s", (name, expected) => {
    expect(packed(name)).toBe(expected);
  });
});

describe("installLine", () => {
  it("quotes paths that a shell would split or expand", () => {
    expect(installLine(["/a/b-1.0.0.tgz", "/my files/it's $1.tgz"])).toBe(
      String.raw`npm install /a/b-1.0.0.tgz '/my files/it'\''s $1.tgz'`,
    );
  });
});

describe("npm run pack", () => {
  it.each([
    { args: [], fault: "no package given" },
    { args: ["http", "htp"], fault: 'unknown package "htp"' },
    { args: ["http", "--into", "x"], fault: "Unknown option '--into'" },
  ])("lists the packages and exits with 2 for the arguments $args", ({ args, fault }) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "scripts/pack.ts"), ...args],
      { encoding: "utf8" },
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(fault);
    expect(stderr).toContain(`packages: ${folders.replaceAll(" ", ", ")}\n`);
  });
});
