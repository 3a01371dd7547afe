import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEngines, newFolder } from "../db/db-world.ts";
import { addMigration, fill, itemsApp, migrate, newProject, readAll } from "./migrate-world.ts";

interface Shown {
  readonly breaks: readonly {
    readonly kind: string;
    readonly field: string;
    readonly documents: number;
    readonly ids: readonly string[];
  }[];
  readonly builds: readonly unknown[];
}

async function planned(cwd: string, url: string): Promise<readonly [number, Shown]> {
  const [code, stdout, stderr] = await migrate(["plan", "--url", url, "--json"], { cwd });
  expect(stderr).toBe("");
  return [code, JSON.parse(stdout) as Shown];
}

describe("fetchwork migrate plan", () => {
  it("refuses a folder without a project", async () => {
    expect((await migrate(["plan", "-u", "sqlite:a.db"], { cwd: newFolder() }))[0]).toBe(2);
  });

  it.each(["../x", "A", "", "a--b", "a".repeat(101)])("refuses the name %j", async (name) => {
    const cwd = newProject(itemsApp("title: z.string()"));
    const args = ["plan", "-u", "sqlite:a.db", "--write", `--name=${name}`];
    expect(await migrate(args, { cwd })).toEqual([2, "", expect.stringContaining("--name")]);
  });

  it("refuses --name without --write, and a program with migrations", async () => {
    const cwd = newProject(itemsApp("title: z.string()"));
    expect((await migrate(["plan", "-u", "sqlite:a.db", "--name", "a"], { cwd }))[0]).toBe(2);
    const other = newProject(`${itemsApp("title: z.string()")}export const migrations = [];`);
    const [code, , stderr] = await migrate(["plan", "-u", "sqlite:a.db"], { cwd: other });
    expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be combined")]);
  });

  it("refuses a migration file with another number than its name, or without changes", async () => {
    for (const [id, changes] of [
      [2, "[{ collection: 'items', change: () => undefined }]"],
      [1, "[]"],
    ] as const) {
      const cwd = newProject(itemsApp("title: z.string()"));
      addMigration(
        cwd,
        "0001-a.ts",
        `export const migration = { id: ${id}, name: "a", changes: ${changes} };`,
      );
      const [code, , stderr] = await migrate(["plan", "-u", "sqlite:a.db"], { cwd });
      expect([code, stderr]).toEqual([1, expect.stringContaining('must export "migration"')]);
    }
  });

  it("has nothing to do without a store", async () => {
    const cwd = newProject(itemsApp("title: z.string()"));
    expect((await migrate(["plan", "-u", "sqlite:a.db"], { cwd }))[0]).toBe(0);
  });

  it.each(allEngines)("counts each kind of break on %s and changes nothing", async (...engine) => {
    const url = await engine[1]();
    const old = Array.from({ length: 5 }, (_, index) => ({
      titel: `title ${index}`,
      size: String(index),
      kind: index < 2 ? "old" : "new",
      code: index === 4 ? "long code" : "same",
      inner: { count: index },
      __proto: 1,
    }));
    await fill(url, "items", old);
    const cwd = newProject(
      itemsApp(
        `title: z.string(), size: z.number(), kind: z.enum(["new"]), code: z.string().max(5),
         added: z.boolean(), inner: z.object({ count: z.number().max(3) })`,
        'unique: ["code"], indexes: ["kind"], search: ["title"]',
      ),
    );
    const before = await readAll(url, "items");
    const [code, { breaks, builds }] = await planned(cwd, url);
    expect(code).toBe(1);
    expect(
      breaks.map(({ kind, field, documents, ids }) => [kind, field, documents, ids.length]),
    ).toEqual(
      [
        ["rename", "title", 5, 3],
        ["type", "size", 5, 3],
        ["narrowed", "kind", 2, 2],
        ["missing", "added", 5, 3],
        ["narrowed", "code", 1, 1],
        ["narrowed", "inner.count", 1, 1],
        ["unique", "code", 4, 3],
      ].toSorted((one, other) => order(breaks, one) - order(breaks, other)),
    );
    expect(builds).toHaveLength(3);
    expect(await readAll(url, "items")).toEqual(before);
    expect(await planned(cwd, url)).toEqual([code, { breaks, builds, documents: 5, pending: [] }]);
  });

  it.each(allEngines)(
    "finds relations to documents that are not there on %s",
    async (...engine) => {
      const url = await engine[1]();
      await fill(url, "authors", [{ name: "Ann" }]);
      const [author] = await ids(url, "authors");
      await fill(url, "posts", [{ author }, { author: "gone" }, {}]);
      const cwd = newProject(`
import { defineResource } from "@fetchwork/rest";
import { z } from "zod";
const authors = defineResource({ name: "author", path: "/authors", schema: z.object({ name: z.string() }), access: {} });
const posts = defineResource({ name: "post", path: "/posts", schema: z.object({ author: z.string().optional() }), access: {}, relations: { author: { to: () => authors, field: "author" } } });
const resources = [authors, posts];
export const app = { resources, collections: resources.map((each) => each.collection) };
`);
      const [code, { breaks }] = await planned(cwd, url);
      expect([code, breaks]).toMatchObject([
        1,
        [{ kind: "relation", field: "author", documents: 1 }],
      ]);
    },
  );

  it.each(allEngines)(
    "finds what is shared or leads nowhere in a field that it renames on %s",
    async (...engine) => {
      const url = await engine[1]();
      await fill(url, "authors", [{ name: "Ann" }]);
      const [writer] = await ids(url, "authors");
      const posts = [
        { title: "a", writer },
        { title: "a", writer: "gone" },
        { title: "b", writer },
      ];
      await fill(url, "posts", posts);
      const cwd = newProject(`
import { defineResource } from "@fetchwork/rest";
import { z } from "zod";
const authors = defineResource({ name: "author", path: "/authors", schema: z.object({ name: z.string() }), access: {} });
const posts = defineResource({ name: "post", path: "/posts", schema: z.object({ titles: z.string(), writerId: z.string() }), access: {}, unique: ["titles"], relations: { writer: { to: () => authors, field: "writerId" } } });
const resources = [authors, posts];
export const app = { resources, collections: resources.map((each) => each.collection) };
`);
      const [code, { breaks }] = await planned(cwd, url);
      const found = breaks.map(({ kind, field, documents }) => [kind, field, documents]);
      expect([code, found]).toEqual([
        1,
        [
          ["rename", "titles", 3],
          ["rename", "writerId", 3],
          ["unique", "titles", 2],
          ["relation", "writerId", 1],
        ],
      ]);
    },
  );

  it("names three documents that lack a field even where others have it under another name", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    const renamed = Array.from({ length: 3 }, () => ({ titel: "a" }));
    await fill(url, "items", [...renamed, {}, {}]);
    const [, { breaks }] = await planned(newProject(itemsApp("title: z.string()")), url);
    expect(breaks.map(({ kind, documents, ids }) => [kind, documents, ids.length])).toEqual([
      ["rename", 3, 3],
      ["missing", 2, 2],
    ]);
  });

  it("writes a migration that can be read, and none over another or next to a pending one", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    await fill(url, "items", [{ name: "Ann Lee", headline: "a" }]);
    const cwd = newProject(
      itemsApp("firstName: z.string(), lastName: z.string(), title: z.string(), stock: z.number()"),
    );
    const [code, stdout] = await migrate(["plan", "-u", url, "--write", "--name", "people"], {
      cwd,
    });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining("written: src/migrations/0001-people.ts\n"),
    ]);
    const source = readFileSync(join(cwd, "src/migrations/0001-people.ts"), "utf8");
    expect(source).toContain("stock: 0");
    expect(source).toContain("title: value");
    expect(source).toContain("firstName: part1, lastName: part2");
    const again = await migrate(["plan", "-u", url, "--write"], { cwd });
    expect([again[0], again[2]]).toEqual([1, expect.stringContaining("did not run")]);
    expect((await migrate(["run", "-u", url], { cwd }))[0]).toBe(0);
    const done = [{ firstName: "Ann", lastName: "Lee", title: "a", stock: 0 }];
    expect(await readAll(url, "items")).toEqual(done);
    expect((await migrate(["plan", "-u", url], { cwd }))[0]).toBe(0);
  });

  it("writes the list of all migrations, and leaves one alone that the project wrote", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    await fill(url, "items", [{}]);
    const cwd = newProject(itemsApp("stock: z.number(), price: z.number()"));
    addMigration(cwd, "0001-old.js", emptyMigration);
    const list = join(cwd, "src/migrations/index.ts");
    const write = ["plan", "-u", url, "--write", "--name"];
    await migrate(["run", "-u", url], { cwd });
    await migrate([...write, "second"], { cwd });
    const loaded: unknown = await import(list);
    expect(loaded).toMatchObject({
      migrations: [
        { id: 1, name: "old" },
        { id: 2, name: "second" },
      ],
    });
    await migrate(["run", "-u", url], { cwd });
    writeFileSync(list, "export const migrations = [];\n");
    await fill(url, "items", [{ stock: "1", price: 1 }]);
    const [, stdout] = await migrate([...write, "third"], { cwd });
    expect(stdout).toContain("written: src/migrations/0003-third.ts");
    expect(readFileSync(list, "utf8")).toBe("export const migrations = [];\n");
  });
});

const emptyMigration = `
export const migration = {
  id: 1,
  name: "old",
  changes: [{ collection: "items", change: () => undefined }],
};
`;

async function ids(url: string, name: string): Promise<readonly string[]> {
  const { defineCollection, openStore } = await import("@fetchwork/documents");
  await using store = await openStore(url);
  return (await store.collection(defineCollection(name)).find()).map(({ id }) => id);
}

function order(breaks: Shown["breaks"], [kind, field]: readonly unknown[]): number {
  return breaks.findIndex((each) => each.kind === kind && each.field === field);
}
