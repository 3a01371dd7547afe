import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { check } from "prettier";
import { beforeEach, describe, expect, it } from "vitest";
import { fetchwork, temporaryFolder } from "../new/project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install"];

describe("fetchwork eject", () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = join(await temporaryFolder(), "shop");
    await fetchwork("/", "new", folder, ...quick);
    await symlink(
      join(import.meta.dirname, "../../../../node_modules"),
      join(folder, "node_modules"),
    );
    await fetchwork(folder, "add", "note", "text:string!:search,sort");
    file = join(folder, "src/api/note/controller.ts");
  });

  it.each([
    [["letter"], "unknown resource letter"],
    [["Note"], 'invalid resource name "Note"'],
    [["user"], "src/api/user/controller.ts was already ejected or changed"],
    [["sign-in"], "unknown resource sign-in"],
    [[], "resource is missing"],
  ])("refuses %j in one line", async (args, message) => {
    const { code, stderr } = await fetchwork(folder, "eject", ...args);
    expect([code, stderr.trim().split("\n").length]).toEqual([2, 2]);
    expect(stderr).toContain(message);
  });

  it.each(["users", "auth"])("writes %s out once, as the package has them", async (part) => {
    const written = await fetchwork(folder, "eject", part);
    expect(written).toMatchObject({ code: 0, stderr: "" });
    const files = written.stdout.split("\n").flatMap((line) => line.split("written  ")[1] ?? []);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const text = await readFile(join(folder, file), "utf8");
      expect(await check(text, { parser: "typescript", printWidth: 100 })).toBe(true);
      // It imports from the package, and from files beside it.
      expect(text).not.toContain('from "../');
    }
    const again = await fetchwork(folder, "eject", part);
    expect(again.stderr).toContain("was already ejected or changed; nothing was changed");
  });

  it("writes handlers for every feature of a definition, including imported parts", async () => {
    await fetchwork(folder, "add", "letter", "text:string!", "to:ref(note)", "--soft-delete");
    const model = join(folder, "src/api/letter/model.ts");
    const text = await readFile(model, "utf8");
    await writeFile(
      model,
      text
        .replace(
          "export const",
          "const rules = { update: () => true, bulk: true };\n\nexport const",
        )
        .replace(/update: "\w+"/, "update: rules.update")
        .replace(
          "  access:",
          '  ...(rules.bulk && { bulk: true }),\n  secret: ["text"],\n  hooks: { beforeCreate() {} },\n  access:',
        ),
    );
    expect(await fetchwork(folder, "eject", "letter")).toMatchObject({ code: 0, stderr: "" });
    const written = await readFile(join(folder, "src/api/letter/controller.ts"), "utf8");
    expect(await check(written, { parser: "typescript", printWidth: 100 })).toBe(true);
    for (const part of [
      "hooks.beforeCreate",
      "checkReferences",
      "requireTrash",
      "validateChange(resource, call,",
    ]) {
      expect(written).toContain(part);
    }
    expect(written).not.toMatch(/hooks\.(?!beforeCreate)/);
  });

  it("rejects a model that cannot be run", async () => {
    await writeFile(join(folder, "src/api/note/model.ts"), "export const note = make();\n");
    const { code, stderr } = await fetchwork(folder, "eject", "note");
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      `fetchwork eject: cannot run ${join(folder, "src/api/note/model.ts")}: make is not defined`,
    ]);
  });

  it("rejects a model that exports something else", async () => {
    await writeFile(join(folder, "src/api/note/model.ts"), "export const note = { name: 1 };\n");
    const { code, stderr } = await fetchwork(folder, "eject", "note");
    expect([code, stderr]).toEqual([2, expect.stringContaining("must export note")]);
  });

  it("writes the handlers once and never overwrites edits", async () => {
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
