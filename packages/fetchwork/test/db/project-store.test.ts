import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { definitionsModule } from "../../src/db/definitions.ts";
import { findProjectStore } from "../../src/db/project-store.ts";
import { memoryIo } from "../memory-io.ts";
import { fetchwork } from "../new/project-world.ts";
import { newFolder, runDb } from "./db-world.ts";
import { items } from "./shop-definitions.ts";

/** Makes what `fetchwork new` makes, as far as `fetchwork db` looks at it. */
function newProject({ env = "" } = {}): string {
  const folder = newFolder();
  for (const name of ["src/api", "data"]) mkdirSync(join(folder, name), { recursive: true });
  const files = {
    "package.json": "{}",
    ".env": env,
    "src/api/index.ts": "",
    "src/config.ts": "export const config = defineConfig({ ...serverSettings });",
    "src/app.ts": `const options = {\n  name: "shop",\n};\nexport { items } from ${JSON.stringify(join(import.meta.dirname, "shop-definitions.ts"))};`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Makes a project whose store has one document. */
async function filledProject(): Promise<string> {
  const cwd = newProject();
  await using store = await openStore(`sqlite:${join(cwd, "data/shop.db")}`, {
    collections: [items],
  });
  await store.collection(items).insert({ sku: "a" } as never);
  return cwd;
}

describe("fetchwork db in a project", () => {
  it.each([
    ["sqlite", "sqlite:data/shop.db"],
    ["postgres", "postgres://localhost/shop"],
  ])("finds the default store of a project that fetchwork new made with %s", async (db, url) => {
    const cwd = join(newFolder(), "shop");
    const quick = ["--packages", "registry", "--skip-git", "--skip-install"];
    expect(await fetchwork("/", "new", cwd, "--db", db, ...quick)).toMatchObject({ code: 0 });
    expect(findProjectStore({ ...memoryIo(), cwd })).toMatchObject({ defaultUrl: url });
    expect(definitionsModule(undefined, { cwd })).toBe(join(cwd, "src/app.ts"));
  });

  it("status shows the store of the project with its definitions", async () => {
    const cwd = await filledProject();
    const [code, stdout, stderr] = await runDb(["status"], { cwd: join(cwd, "src") });
    expect([code, stderr]).toEqual([0, `store: sqlite:${cwd}/data/shop.db\n`]);
    expect(stdout).toContain(`sqlite:${cwd}/data/shop.db`);
    expect(stdout).toContain("collection items: 1 document\n");
    expect(stdout).toContain("index (");
  });

  it("backup writes the store of the project, and restore into another one", async () => {
    const cwd = await filledProject();
    const [code, stdout] = await runDb(["backup", "a backup.gz"], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 document in a backup.gz")]);
    expect(await runDb(["restore", "a backup.gz"], { cwd })).toEqual([
      1,
      "",
      `store: sqlite:${cwd}/data/shop.db\nfetchwork db restore: sqlite:${cwd}/data/shop.db already has documents ("items"): ` +
        "restore into a new store, with another --url\n",
    ]);
    const [again] = await runDb(["restore", "a backup.gz", "--url", "sqlite:restored.db"], { cwd });
    expect([again, existsSync(join(cwd, "restored.db"))]).toEqual([0, true]);
  });

  it("takes no default store in production, where a variable may have got lost", async () => {
    const cwd = await filledProject();
    const [code, stdout, stderr] = await runDb(["backup", "x.gz"], {
      cwd,
      env: { NODE_ENV: "production" },
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("no store given");
  });

  it("does not run definitions that everybody can write", async () => {
    const cwd = await filledProject();
    chmodSync(join(cwd, "src/app.ts"), 0o666);
    const [code, , stderr] = await runDb(["status"], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining("can be written by everybody")]);
  });

  it("backup goes on without definitions that cannot be loaded, and says so", async () => {
    const cwd = await filledProject();
    writeFileSync(
      join(cwd, "src/app.ts"),
      'const options = {\n  name: "shop",\n};\nthrow new Error("broken");',
    );
    const [code, stdout, stderr] = await runDb(["backup", "x.gz"], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 document in x.gz")]);
    expect(stderr).toContain("continuing without definitions: ");
  });

  it("migrate runs the definitions of the project", async () => {
    const cwd = newProject();
    const [code, stdout] = await runDb(["migrate"], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringContaining("items")]);
    expect(existsSync(join(cwd, "data/shop.db"))).toBe(true);
  });

  it("reads DATABASE_URL from .env, relative to the project, unless the environment has it", async () => {
    const cwd = newProject({ env: "DATABASE_URL=sqlite:data/of-env-file.db\n" });
    const folder = join(cwd, "src");
    const [, , fromFile] = await runDb(["status"], { cwd: folder });
    expect(fromFile).toContain(`sqlite:${cwd}/data/of-env-file.db is not there`);
    const [, , named] = await runDb(["status", "-u", "env:DATABASE_URL"], { cwd: folder });
    expect(named).toBe(fromFile);
    const env = { DATABASE_URL: "sqlite:data/of-shell.db" };
    const [, , fromShell] = await runDb(["status"], { cwd: folder, env });
    expect(fromShell).toContain(`sqlite:${cwd}/data/of-shell.db is not there`);
    const [, , given] = await runDb(["status", "-u", "sqlite:here.db"], { cwd: folder });
    expect(given).toContain(`sqlite:${folder}/here.db is not there`);
  });

  it("names the option to pass outside of a project, and where the default was changed", async () => {
    const message = "no store given: pass --url sqlite:data/app.db, or set DATABASE_URL";
    expect(await runDb(["status"], { cwd: newFolder() })).toMatchObject([
      2,
      "",
      expect.stringContaining(message),
    ]);
    const cwd = newProject();
    writeFileSync(join(cwd, "src/config.ts"), "");
    expect(await runDb(["status"], { cwd })).toMatchObject([
      2,
      "",
      expect.stringContaining(message),
    ]);
  });
});
