import { availableParallelism } from "node:os";
import { beforeAll, describe, expect, it } from "vitest";
import { fetchwork, program, project, sharedModules } from "./project-world.ts";

const auths = ["none", "password", "password,oidc"];
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
    { timeout: 900_000 },
    async (_, words) => {
      const left = [...combinations];
      const faults: string[] = [];
      await Promise.all(
        Array.from({ length: availableParallelism() }, async () => {
          for (let options = left.pop(); options; options = left.pop()) {
            const folder = await project(...options);
            if (words.length > 0) {
              const { stderr } = await fetchwork(folder, "add", ...words);
              if (stderr !== "") faults.push(`${options.join(" ")}: ${stderr}`);
            }
            const { code, output } = await program(folder, ["npm", "run", "--silent", "lint"]);
            if (code !== 0) faults.push(`${options.join(" ")}:\n${output}`);
          }
        }),
      );
      expect(faults).toEqual([]);
    },
  );

  it("covers 44 combinations of options", () => {
    expect(combinations).toHaveLength(44);
  });
});
