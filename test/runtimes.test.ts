import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claims } from "../scripts/test-runtimes/claims.ts";
import { filesOf, recordOf, type RuntimesRecord } from "../scripts/test-runtimes/record.ts";
import { readManifest, readPackages, readText, root } from "../scripts/workspace-packages.ts";

const recorded = JSON.parse(readText("docs/runtimes.json")) as RuntimesRecord;

/** Entries that are single files of the main entry. */
const filesOfMainEntries: ReadonlySet<string> = new Set([
  "@fetchwork/http/internal",
  "@fetchwork/http/responses",
  "@fetchwork/http/transport",
  "@fetchwork/kit/errors",
  "@fetchwork/kit/options",
  "@fetchwork/service/internal",
]);

describe("what runs where", () => {
  it("is recorded for every claim and the pinned versions, as `npm run test:runtimes` found it", () => {
    expect(recorded).toEqual(recordOf(claims));
  });

  it("is the same in docs/runtimes.md as in the record", () => {
    for (const [path, text] of filesOf(recorded)) {
      expect([path, readFileSync(join(root, path), "utf8")]).toEqual([path, text]);
    }
  });

  it("is claimed for every entry of every package, and for the command", () => {
    const entries = readPackages("packages").flatMap(({ manifest: { name, exports = {} } }) =>
      Object.keys(exports)
        .filter((entry) => entry !== "./package.json")
        // The other subpaths of middleware are single files of its main entry, as
        // `subpaths.test.ts` there shows.
        .filter((entry) => name !== "@fetchwork/middleware" || /^\.(?:\/node)?$/.test(entry))
        .map((entry) => name + entry.slice(1))
        .filter((entry) => !filesOfMainEntries.has(entry)),
    );
    const claimed = claims.map(({ entry }) => entry);
    expect(claimed.toSorted()).toEqual([...entries, "fetchwork/bin/fetchwork.mjs"].toSorted());
  });

  it("has the Node of this repository among the versions", () => {
    expect(recorded.versions["node24"]).toBe(readManifest(".").devDependencies?.["node"]);
  });
});
