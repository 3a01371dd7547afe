import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEngines, newFolder } from "../db/db-world.ts";
import { addMigration, fill, itemsApp, migrate, newProject, readAll } from "./migrate-world.ts";

const rename = `
export const migration = {
  id: 1,
  name: "rename-title",
  changes: [{
    collection: "items",
    change: ({ titel, ...rest }) => (titel === undefined ? undefined : { ...rest, title: titel }),
    undo: ({ title, ...rest }) => (title === undefined ? undefined : { ...rest, titel: title }),
  }],
};
`;
const titles = Array.from({ length: 250 }, (_, index) => `title ${index}`);

describe("fetchwork migrate run", () => {
  it.each(["0", "x", "-1", "1.5"])("refuses --again %s", async (again) => {
    const cwd = newProject(itemsApp("title: z.string()"));
    const [code] = await migrate(["run", "-u", "sqlite:a.db", `--again=${again}`], { cwd });
    expect(code).toBe(2);
  });

  it("refuses --again of a migration that did not run, and a collection that is not defined", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    await fill(url, "items", [{ titel: "a" }]);
    const cwd = newProject(itemsApp("title: z.string()"));
    addMigration(cwd, "0001-rename.ts", rename.replace('"items"', '"others"'));
    const [usage] = await migrate(["run", "-u", url, "--again", "1"], { cwd });
    const [code, , stderr] = await migrate(["run", "-u", url], { cwd });
    expect([usage, code, stderr]).toEqual([2, 1, expect.stringContaining('"others"')]);
    expect(await readAll(url, "items")).toEqual([{ titel: "a" }]);
  });

  it.each([
    ["a promise", "async () => ({})"],
    ["a text", '() => "x"'],
    ["an error", '() => { throw new Error("to be filled in"); }'],
  ])("changes nothing where a change returns %s", async (_what, change) => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    await fill(url, "items", [{ titel: "a" }]);
    const cwd = newProject(itemsApp("title: z.string()"));
    const changes = `[{ collection: "items", change: ${change} }]`;
    addMigration(
      cwd,
      "0001-a.ts",
      `export const migration = { id: 1, name: "a", changes: ${changes} };`,
    );
    expect((await migrate(["run", "-u", url], { cwd }))[0]).toBe(1);
    expect(await readAll(url, "items")).toEqual([{ titel: "a" }]);
    expect((await migrate(["undo", "-u", url], { cwd }))[2]).not.toContain("undone");
  });

  it("refuses to undo a migration without undo", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    await fill(url, "items", [{}]);
    const cwd = newProject(itemsApp("title: z.string()"));
    const changes = '[{ collection: "items", change: () => ({ title: "" }) }]';
    addMigration(
      cwd,
      "0001-a.ts",
      `export const migration = { id: 1, name: "a", changes: ${changes} };`,
    );
    expect((await migrate(["run", "-u", url], { cwd }))[0]).toBe(0);
    const [code, , stderr] = await migrate(["undo", "-u", url], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining("has no undo")]);
  });

  it.each(allEngines)(
    "runs once on %s, again for older programs, and is undone",
    async (...engine) => {
      const url = await engine[1]();
      await fill(
        url,
        "items",
        titles.map((titel) => ({ titel })),
      );
      const cwd = newProject(itemsApp("title: z.string()", 'unique: ["title"], search: ["title"]'));
      addMigration(cwd, "0001-rename.ts", rename);
      const run = ["run", "-u", url];
      const done = "done  migration 1: rename-title, 250 documents changed\n";
      expect(await migrate(run, { cwd })).toEqual([0, done, ""]);
      expect(await readAll(url, "items")).toEqual(titles.map((title) => ({ title })));
      expect(await migrate(run, { cwd })).toEqual([0, "", "Nothing to do\n"]);
      await fill(url, "items", [{ titel: "late" }]);
      const again = await migrate([...run, "--again", "1", "--json"], { cwd });
      expect(JSON.parse(again[1])).toEqual({ id: 1, name: "rename-title", done: true, changed: 1 });
      expect((await migrate(["undo", "-u", url], { cwd }))[1]).toContain("251 documents changed");
      const back = [...titles, "late"].map((titel) => ({ titel }));
      expect(await readAll(url, "items")).toEqual(back);
      expect((await migrate(["undo", "-u", url], { cwd }))[2]).toBe("Nothing to do\n");
      expect((await migrate(run, { cwd }))[1]).toContain("251 documents changed");
    },
    60_000,
  );
});
