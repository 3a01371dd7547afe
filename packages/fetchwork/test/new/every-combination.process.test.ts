import { readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fetchwork, program, project, sharedModules, temporaryFolder } from "./project-world.ts";

const auths = ["none", "password"];
const lists = ["array", "rows"];
const databases = ["sqlite", "postgres"];
const features = [
  [],
  ["--webhooks"],
  ["--password-resets"],
  ["--webhooks", "--password-resets"],
  ["--sign-up", "public"],
];

const combinations = auths.flatMap((auth) =>
  lists.flatMap((list) =>
    databases.flatMap((db) =>
      features
        // All of them require users.
        .filter((words) => auth !== "none" || words.length === 0)
        .map((words) => ["--auth", auth, "--list", list, "--db", db, ...words]),
    ),
  ),
);

describe("a new project", () => {
  beforeAll(() => sharedModules(), 300_000);

  it.each([
    ["untouched", []],
    ["with an added article", ["article", "title:string!:search,sort,filter", "content:text"]],
  ])(
    "of every combination of options, %s, passes its own lint and types",
    { timeout: 300_000 },
    async (_, words) => {
      const parent = await temporaryFolder();
      for (const [index, options] of combinations.entries()) {
        const folder = await project(...options);
        if (words.length > 0) {
          const added = await fetchwork(folder, "add", ...words);
          expect([added.code, added.stderr]).toEqual([0, ""]);
        }
        const text = await readFile(join(folder, "package.json"), "utf8");
        expect(text).toContain('"lint": "tsc && oxlint --max-warnings=0 src"');
        await rm(join(folder, "node_modules"));
        await rename(folder, join(parent, `project-${index}`));
      }
      // One run for all of them does what each would do alone, in a twentieth of the time.
      await symlink(await sharedModules(), join(parent, "node_modules"));
      const config = { extends: "./project-0/tsconfig.json", include: ["*/src"] };
      await writeFile(join(parent, "tsconfig.json"), JSON.stringify(config));
      const typed = await program(parent, ["node_modules/.bin/tsc"]);
      expect(typed).toEqual({ code: 0, output: "" });
      const folders = combinations.map((_options, index) => `project-${index}/src`);
      const linting = ["node_modules/.bin/oxlint", "--max-warnings=0", ...folders];
      const linted = await program(parent, linting);
      expect(linted.output).toMatch(/Found 0 warnings and 0 errors/);
      expect(linted.code).toBe(0);
    },
  );

  it("covers 24 combinations of options", () => {
    expect(combinations).toHaveLength(24);
  });
});
