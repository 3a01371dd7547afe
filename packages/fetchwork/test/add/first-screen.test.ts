import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codeBlocks } from "../../../../scripts/markdown.ts";
import { readText } from "../../../../scripts/workspace-packages.ts";
import { fetchwork, temporaryFolder } from "../new/project-world.ts";

const readme = readText("README.md");

it("fetchwork add writes the definition that the README of the repository shows", async () => {
  const folder = join(await temporaryFolder(), "my-api");
  await fetchwork("/", "new", folder, "--packages", "registry", "--skip-git", "--skip-install");
  const [, name = "", field = ""] =
    /^npx fetchwork add (\S+) '([^']+)'$/m.exec(readme) ?? expect.fail("no line of add");
  await fetchwork(folder, "add", name, field);
  const written = await readFile(join(folder, `src/api/${name}/model.ts`), "utf8");
  const [shown = ""] = codeBlocks(readme, "ts");
  const definition = /^export const [\s\S]*?^\}\);$/m;
  expect(definition.exec(written)?.[0]).toBe(definition.exec(shown)?.[0]);
});

it("the README of the repository has at most 90 lines", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(90);
});
