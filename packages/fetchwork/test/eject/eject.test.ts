import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { check } from "prettier";
import { beforeEach, describe, expect, it } from "vitest";
import { fetchwork, program, project, temporaryFolder } from "../new/project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install"];
const isAsked = process.env["FETCHWORK_GENERATOR"] === "1";

describe("fetchwork eject", () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = join(await temporaryFolder(), "shop");
    await fetchwork("/", "new", folder, ...quick);
    await fetchwork(folder, "add", "note", "text:string!:search,sort");
    file = join(folder, "src/api/note/controller.ts");
  });

  it.each([
    [["letter"], "there is no resource letter"],
    [["Note"], '"Note" is no name of a resource'],
    [["user"], "src/api/user/controller.ts is written out or changed already"],
    [[], "resource is missing"],
  ])("refuses %j in one line", async (args, message) => {
    const { code, stderr } = await fetchwork(folder, "eject", ...args);
    expect([code, stderr.trim().split("\n").length]).toEqual([2, 2]);
    expect(stderr).toContain(message);
  });

  it.each([["relations", "letter", "to:ref(user)"]])(
    "refuses a definition with %s, which written-out handlers lack",
    async (option, ...words) => {
      await fetchwork(folder, "add", ...words);
      const { code, stderr } = await fetchwork(folder, "eject", "letter");
      expect([code, stderr.split("\n")[0]]).toEqual([
        2,
        `fetchwork eject: its definition has ${option}, which handlers that are written out lack`,
      ]);
    },
  );

  it.each(["hooks: {}", 'secret: ["text"]', "computed: {}"])(
    "refuses a definition with %s, which written-out handlers lack",
    async (option) => {
      const model = join(folder, "src/api/note/model.ts");
      const text = await readFile(model, "utf8");
      await writeFile(model, text.replace("  access:", `  ${option},\n  access:`));
      const { code, stderr } = await fetchwork(folder, "eject", "note");
      expect([code, stderr]).toEqual([2, expect.stringContaining("handlers that are written out")]);
    },
  );

  it("refuses a rule that is a function, which is to be asked again", async () => {
    const model = join(folder, "src/api/note/model.ts");
    const text = await readFile(model, "utf8");
    await writeFile(model, text.replace('update: "owner"', "update: () => true"));
    const { code, stderr } = await fetchwork(folder, "eject", "note");
    expect([code, stderr]).toEqual([2, expect.stringContaining("access rules")]);
  });

  it("writes handlers of a trash in the form of Prettier", async () => {
    await fetchwork(folder, "add", "letter", "text:string", "--soft-delete");
    expect(await fetchwork(folder, "eject", "letter")).toMatchObject({ code: 0, stderr: "" });
    const text = await readFile(join(folder, "src/api/letter/controller.ts"), "utf8");
    expect(await check(text, { parser: "typescript", printWidth: 100 })).toBe(true);
  });

  it("refuses a model that it cannot read", async () => {
    await writeFile(join(folder, "src/api/note/model.ts"), "export const note = make();\n");
    const { code, stderr } = await fetchwork(folder, "eject", "note");
    expect([code, stderr]).toEqual([2, expect.stringContaining("exports no note")]);
  });

  it("writes the handlers once, and never over what was edited", async () => {
    expect(await fetchwork(folder, "eject", "note")).toEqual({
      code: 0,
      stdout: "written  src/api/note/controller.ts\n",
      stderr: "",
    });
    const text = await readFile(file, "utf8");
    for (const name of ["list", "show", "create", "update", "patch", "remove"]) {
      expect(text).toMatch(new RegExp(`^  (?:async )?${name}[(:]`, "m"));
    }
    expect(await check(text, { parser: "typescript", printWidth: 100 })).toBe(true);
    const again = await fetchwork(folder, "eject", "note");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("nothing was changed")]);
    expect(await readFile(file, "utf8")).toBe(text);
  });
});

it.skipIf(!isAsked).each([
  ["an array", [], ["note", "text:string!:search,sort,filter", "stars:integer:filter"]],
  [
    "rows",
    ["--list", "rows"],
    ["note", "text:string!:search,unique", "--admin", "create,update,remove"],
  ],
  ["no users", ["--auth", "none"], ["note", "text:string!:search"]],
  ["a trash", [], ["note", "text:string!:search,sort", "--soft-delete"]],
])(
  "handlers that are written out pass the tests of the resource (%s; FETCHWORK_GENERATOR=1)",
  { timeout: 240_000 },
  async (_, options, words) => {
    const folder = await project(...options);
    await fetchwork(folder, "add", ...words);
    expect(await fetchwork(folder, "eject", "note")).toMatchObject({ code: 0 });
    const node = process.execPath;
    const typed = await program(folder, [node, "node_modules/typescript/bin/tsc"]);
    expect(typed).toEqual({ code: 0, output: "" });
    const vitest = [node, "node_modules/vitest/vitest.mjs", "run", "src/api/note"];
    expect(await program(folder, vitest)).toMatchObject({ code: 0 });
  },
);
