import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { fetchwork, program, temporaryFolder } from "../new/project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install"];

/** Lets the tests of a project run with the sources of this repository's packages. */
const sourcesConfig = `const conditions = ["@fetchwork/source"];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { execArgv: ["--conditions=@fetchwork/source"] },
};
`;

describe("fetchwork add", () => {
  let folder: string;

  beforeEach(async () => {
    folder = join(await temporaryFolder(), "shop");
    await fetchwork("/", "new", folder, ...quick);
  });

  it(
    "writes a resource with fields in snake case that passes its tests",
    { timeout: 60_000 },
    async () => {
      const modules = join(import.meta.dirname, "../../../../node_modules");
      await symlink(modules, join(folder, "node_modules"));
      await writeFile(join(folder, "vitest.config.ts"), sourcesConfig);
      const fields = ["published_at:datetime!:sort,filter", "page_count:integer!:filter,index"];
      const added = await fetchwork(
        folder,
        "add",
        "post",
        "first_title:string!:search,unique",
        ...fields,
      );
      expect(added).toMatchObject({ code: 0, stderr: "" });
      const vitest = join(modules, "vitest/vitest.mjs");
      const tested = await program(folder, [process.execPath, vitest, "run", "src/api/post"]);
      expect(tested).toMatchObject({ code: 0, output: expect.stringContaining("1 passed") });
    },
  );
});
