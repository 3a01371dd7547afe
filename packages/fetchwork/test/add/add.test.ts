import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { check } from "prettier";
import { beforeEach, describe, expect, it } from "vitest";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { fetchwork, temporaryFolder } from "../new/project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install"];

/** Every file of a folder with its text. */
async function snapshot(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        return [file, await readFile(file, "utf8")] as const;
      }),
    ),
  );
}

describe("fetchwork add", () => {
  let folder: string;

  beforeEach(async () => {
    folder = join(await temporaryFolder(), "shop");
    await fetchwork("/", "new", folder, ...quick);
  });

  it.each([
    [["Article"], 'invalid resource name "Article"'],
    [["blog_post"], 'invalid resource name "blog_post"'],
    [["../evil"], 'invalid resource name "../evil"'],
    [["a".repeat(31)], "at most 30"],
    [["class"], "the name class is reserved"],
    [["case"], "the name case is reserved: use another, with --path /cases to keep the path"],
    [["con"], "the name con is reserved"],
    [["lpt1"], "the name lpt1 is reserved"],
    [["user"], "the name user is reserved: users are in src/api/user/model.ts"],
    [["auth"], "the name auth is reserved"],
    [["passwordReset"], "the name password-reset is reserved"],
    [["constructor"], "the name constructor is reserved"],
    [["defineResource"], "the name define-resource is reserved"],
    [["account", "--path", "/users"], "the path /users is reserved"],
    [["account", "--path", "/../x"], "expected something like /articles"],
    [["article", "title:sting"], "unknown type sting: expected one of string, text,"],
    [["article", "Title"], "a field name must begin with a lower-case letter"],
    [["article", "id"], "the name id is reserved"],
    [["article", "version:number"], "the name version is reserved"],
    [["article", "__proto__"], "a field name must begin with a lower-case letter"],
    [["article", "constructor"], "the name constructor is reserved"],
    [["article", "title", "title:text"], "the field title is defined twice"],
    [
      ["article", "owner"],
      "the field owner is that of the creator: expected another field, or another",
    ],
    [["article", "state:enum"], "an enum must list its values"],
    [["article", "state:enum(a|a)"], "an enum must list its values"],
    [["article", 'state:enum(a|"b)'], "an enum must list its values"],
    [["article", "published_"], "such as publishedAt or published_at"],
    [["article", "published__at"], "such as publishedAt or published_at"],
    [["article", "_published"], "a field name must begin with a lower-case letter"],
    [["article", "a".repeat(41)], "have at most 40 characters"],
    [["article", "access_token"], "the name access_token is reserved"],
    [["article", "title:string(0)"], "expected a length from 1 to 999999, such as string(200)"],
    [["article", "title:string(1000000)"], "expected a length from 1 to 999999"],
    [
      ["article", "title:text(99999999)"],
      "expected a length from 1 to 999999, such as text(50000)",
    ],
    [["article", "price:number(3)"], "number accepts no argument in parentheses"],
    [["article", "done:boolean[]"], "a list must be string[]"],
    [["article", "body:text:unique"], "text accepts search, not unique"],
    [["article", "title:string:search,"], "not an empty word"],
    [["article", "page:integer:filter"], "the list parameter page is reserved"],
    [["article", "not:boolean:filter"], "the field not cannot be a filter"],
    [["article", "then:date"], "the name then is reserved"],
    [["article", "title:string!?"], "a field is name:type"],
    [["article", "by:ref"], "a ref must name a resource"],
    [["article", "by:ref(author)"], "unknown resource author"],
    [["article", "of:ref(article)!"], "(of) can never be satisfied"],
    [
      ["article", "--public", "read"],
      '--public must list operations out of list, show, create, update, remove, got "read"',
    ],
    [
      ["article", "--public", "list", "--admin", "list"],
      "list is listed in both --public and --admin",
    ],
    [["article", "--public", "create", "--owner", "update"], "requires create to be allowed"],
    [["article", "--owner", "create"], "create cannot be restricted to the owner"],
    [["article", "--owner", "show"], "--owner show requires a list of no more documents"],
    [["article", "--owner-field", "x y"], "a field name must begin with a lower-case letter"],
    [
      ["article", "--owner-field", "a", "--master", "create"],
      "--owner-field requires create to be allowed",
    ],
    [["article", "--list", "tree"], '--list must be array or rows, got "tree"'],
    [["article", "--colour", "red"], 'unknown option "--colour"'],
    [["job"], "the job has no name: fetchwork add job NAME"],
    [["job", "Nightly"], 'invalid name "Nightly": expected lower-case letters'],
    [["receiver", "new"], 'invalid name "new"'],
    [["job", "switch"], 'invalid name "switch"'],
    [
      ["articles", "title:string!"],
      '"articles" looks like a plural, did you mean article? To keep the name, set the path: --path /articles',
    ],
    [["blogPosts", "title:string!"], "did you mean blogPost?"],
    [
      ["thing"],
      "the resource has no fields: write each as name:type, such as 'title:string!' (required) or content:text",
    ],
  ])("rejects %j in one line and changes nothing", async (args, message) => {
    const before = await snapshot(folder);
    const { code, stdout, stderr } = await fetchwork(folder, "add", ...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(2);
    expect(await snapshot(folder)).toEqual(before);
  });

  it("rejects rules for users in a project without users", async () => {
    const other = join(folder, "../other");
    await fetchwork("/", "new", other, ...quick, "--auth", "none");
    const { code, stderr } = await fetchwork(other, "add", "note", "--user", "create");
    expect(code).toBe(2);
    expect(stderr).toContain("--user requires users, but this project has none");
  });

  it("reports a folder without a project", async () => {
    const { code, stderr } = await fetchwork(join(folder, ".."), "add", "note");
    expect([code, stderr]).toEqual([2, expect.stringContaining("no project in this folder")]);
  });

  it("accepts a plural name whose path is given", async () => {
    const words = ["add", "articles", "title:string!", "--path", "/articles"];
    expect(await fetchwork(folder, ...words)).toMatchObject({ code: 0 });
    const model = await readFile(join(folder, "src/api/articles/model.ts"), "utf8");
    expect(model).toContain('path: "/articles"');
  });

  it("writes four files and registers them from a subfolder of the project", async () => {
    const { code, stdout } = await fetchwork(
      join(folder, "src"),
      "add",
      "blogPost",
      "title:string!",
    );
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toEqual([
      "written  src/api/blog-post/controller.ts",
      "written  src/api/blog-post/index.ts",
      "written  src/api/blog-post/model.ts",
      "written  src/api/blog-post/blog-post.test.ts",
      "changed  src/api/index.ts",
    ]);
    const registry = await readFile(join(folder, "src/api/index.ts"), "utf8");
    expect(registry).toContain('import { blogPostRoutes } from "./blog-post/index.ts";');
    expect(registry).toContain("export const resources = [blogPostRoutes] as const;");
    const model = await readFile(join(folder, "src/api/blog-post/model.ts"), "utf8");
    expect(model).toContain('path: "/blog-posts"');
  });

  it("allows restoring with the master key in a project without admins", async () => {
    const other = join(await temporaryFolder(), "shop");
    await fetchwork("/", "new", other, ...quick, "--auth", "none");
    const words = ["add", "note", "text:string!", "--soft-delete"];
    for (const [at, has] of [
      [folder, false],
      [other, true],
    ] as const) {
      await fetchwork(at, ...words);
      const model = await readFile(join(at, "src/api/note/model.ts"), "utf8");
      expect(model.includes('restore: "master"')).toBe(has);
    }
  });

  it("changes nothing when repeated and reports it", async () => {
    const words = ["note", "text:string!", "--soft-delete"];
    await fetchwork(folder, "add", ...words);
    const before = await snapshot(folder);
    expect(await fetchwork(folder, "add", ...words)).toEqual({
      code: 0,
      stdout: "note already exists; nothing was changed\n",
      stderr: "",
    });
    expect(await snapshot(folder)).toEqual(before);
  });

  it("without words changes nothing where the list is complete, and says so", async () => {
    const before = await snapshot(folder);
    const stdout = "src/api/index.ts is complete; nothing was changed\n";
    expect(await fetchwork(folder, "add")).toEqual({ code: 0, stdout, stderr: "" });
    expect(await snapshot(folder)).toEqual(before);
    await writeFile(join(folder, "src/api/index.ts"), "");
    expect((await fetchwork(folder, "add")).stdout).toBe("changed  src/api/index.ts\n");
    expect(await snapshot(folder)).toEqual(before);
  });

  it("completes a resource that exists in part", async () => {
    await fetchwork(folder, "add", "note", "text:string!");
    const whole = await snapshot(folder);
    const file = join(folder, "src/api/index.ts");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("[noteRoutes]", "[]"));
    const { stdout } = await fetchwork(folder, "add", "note", "text:string!");
    expect(stdout).toBe("changed  src/api/index.ts\n");
    expect(await snapshot(folder)).toEqual(whole);
  });

  it("never overwrites a resource of the same name", async () => {
    await fetchwork(folder, "add", "note", "text:string!");
    const before = await snapshot(folder);
    const { code, stderr } = await fetchwork(folder, "add", "note", "text:string?");
    expect(code).toBe(2);
    expect(stderr.split("\n")[0]).toBe(
      "fetchwork add: src/api/note/model.ts already exists with other content; nothing was changed",
    );
    expect(await snapshot(folder)).toEqual(before);
  });

  it("rejects the path of another resource", async () => {
    await fetchwork(folder, "add", "post", "text:string!", "--path", "/articles");
    const before = await snapshot(folder);
    const { code, stderr } = await fetchwork(folder, "add", "article", "title:string!");
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      "fetchwork add: the path /articles is already used by src/api/post/model.ts; choose another with --path",
    ]);
    expect(await snapshot(folder)).toEqual(before);
  });

  it("rejects a path that is written by hand in any module, with any quotes", async () => {
    for (const [file, text] of [
      ["post/model.ts", "define({ schema, path: '/articles' })"],
      ["shop/all.ts", 'r({ "path": `/articles`, schema })'],
      ["more.ts", 'route({ method: "POST", path: "/articles" })'],
    ] as const) {
      const target = join(folder, "src/api", file);
      await mkdir(join(target, ".."), { recursive: true });
      await writeFile(target, text);
      const before = await snapshot(folder);
      const { code, stderr } = await fetchwork(folder, "add", "article", "title:string!");
      expect([code, stderr.split("\n")[0]]).toEqual([
        2,
        `fetchwork add: the path /articles is already used by src/api/${file}; choose another with --path`,
      ]);
      expect(await snapshot(folder)).toEqual(before);
      await rm(target);
    }
    const inTest = join(folder, "src/api/sample.test.ts");
    await writeFile(inTest, 'r({ path: "/articles", name: "article", schema })');
    expect((await fetchwork(folder, "add", "article", "title:string!")).code).toBe(0);
    const words = ["entry", "text:text", "--path", "/blog-posts"];
    expect((await fetchwork(folder, "add", ...words)).stderr).toBe("");
    expect(
      (await fetchwork(folder, "add", "text", "body:text", "--path", "/blog/posts")).stderr,
    ).toContain("the path /blog/posts is already used by src/api/entry/model.ts");
  });

  it("lists every folder of src/api that exports routes, and no other, in one module", async () => {
    await fetchwork(folder, "add", "note", "text:string!");
    await mkdir(join(folder, "src/api/status"));
    await writeFile(join(folder, "src/api/status/index.ts"), "export const statusRoutes = [];\n");
    await mkdir(join(folder, "src/api/texts"));
    await writeFile(join(folder, "src/api/texts/index.ts"), "export const texts = [];\n");
    await fetchwork(folder, "add", "blogPost", "title:string!");
    const index = await readFile(join(folder, "src/api/index.ts"), "utf8");
    expect(index.match(/from "\.\/.*"/g)).toEqual([
      'from "./blog-post/index.ts"',
      'from "./note/index.ts"',
      'from "./status/index.ts"',
    ]);
    expect(index).toContain("export const resources = [blogPostRoutes, noteRoutes] as const;");
    expect(index).toContain("export const routes = [...statusRoutes] as const;");
    await rm(join(folder, "src/api/status"), { recursive: true });
    expect((await fetchwork(folder, "add")).stdout).toBe("changed  src/api/index.ts\n");
    expect(await readFile(join(folder, "src/api/index.ts"), "utf8")).not.toContain("status");
  });

  it("writes jobs and receivers, and lists them", async () => {
    expect(await fetchwork(folder, "add", "job", "nightly-report")).toEqual({
      code: 0,
      stdout: "written  src/jobs/nightly-report.ts\nchanged  src/api/index.ts\n",
      stderr: "",
    });
    const { code, stdout } = await fetchwork(folder, "add", "receiver", "payments");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nSet PAYMENTS_SECRET in \.env; until then the response is 404\n$/);
    const index = await readFile(join(folder, "src/api/index.ts"), "utf8");
    expect(index).toContain('import { nightlyReport } from "../jobs/nightly-report.ts";');
    expect(index).toContain("export const jobs = [nightlyReport] as const;");
    expect(index).toContain("export const receivers = [payments] as const;");
    for (const file of ["src/jobs/nightly-report.ts", "src/receivers/payments.ts"]) {
      const text = await readFile(join(folder, file), "utf8");
      await expect(check(text, { parser: "typescript", printWidth: 100 })).resolves.toBe(true);
    }
    const again = await fetchwork(folder, "add", "job", "nightly-report");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already exists")]);
  });

  it("leaves the project unchanged when it is interrupted or cannot write", async () => {
    const before = await snapshot(folder);
    const io = memoryIo({ cwd: folder, signal: AbortSignal.abort(new Error("interrupted")) });
    expect(await runCommand(commands, { args: ["add", "note", "text:text"], io })).toBe(130);
    expect(await snapshot(folder)).toEqual(before);
    await writeFile(join(folder, "src/api/note"), "a file");
    expect((await fetchwork(folder, "add", "note", "text:text")).code).toBe(1);
    expect((await snapshot(folder)).size).toBe(before.size + 1);
    expect(await readdir(join(folder, "src/api"))).toContain("note");
  });

  it.each([
    ["note", "text:string!"],
    ["category", "title:string(20)!:unique,search,sort", "--admin", "create,update,remove"],
    ["thing", "price:number!:sort,filter", "on:date?:sort", "tags:string[]", "--soft-delete"],
    [
      "order",
      "text:string!",
      "--list",
      "rows",
      "--master",
      "list,show,create",
      "--public",
      "update",
    ],
    [
      "longNameOfOneResource",
      "aVeryLongNameOfAField:string(100)!:search,sort,filter,unique",
      "b:text",
    ],
    [
      "state",
      `kind:enum(${"abcdefghij"
        .split("")
        .map((c) => c.repeat(12))
        .join("|")})!:filter`,
    ],
    [
      "reading",
      "a:email!",
      "b:url",
      "c:datetime!",
      "d:boolean:filter",
      "e:integer[]",
      "f:ref(user)",
    ],
    ["comment", "parent:ref(comment)", "by:ref(user)!:filter", "text:text!"],
  ])("writes %s %s as Prettier would", async (...words) => {
    expect(await fetchwork(folder, "add", ...words)).toMatchObject({ code: 0 });
    for (const [file, text] of await snapshot(join(folder, "src/api"))) {
      if (file.includes("/user/") || file.includes("/auth/")) continue;
      const isFormatted = await check(text, { parser: "typescript", printWidth: 100 });
      expect(isFormatted, `${file}\n${text}`).toBe(true);
    }
  });

  it("names a resource in its tests so that it conflicts with no variable of them", async () => {
    for (const name of ["user", "other", "anyone", "service", "app", "data", "sent", "change"]) {
      const { code, stderr } = await fetchwork(folder, "add", name, "text:string!");
      if (code === 2) expect(stderr).toContain("is reserved");
      else {
        const text = await readFile(join(folder, `src/api/${name}/${name}.test.ts`), "utf8");
        expect(text).toContain(`import { ${name} as tested } from "./model.ts";`);
      }
    }
  });

  it("uses the project's list response format", async () => {
    const other = join(folder, "../rows");
    await fetchwork("/", "new", other, ...quick, "--list", "rows");
    await fetchwork(other, "add", "note", "text:text");
    const model = await readFile(join(other, "src/api/note/model.ts"), "utf8");
    expect(model).toContain('list: { shape: "rows" }');
    const users = await readFile(join(other, "src/api/user/model.ts"), "utf8");
    expect(users).toContain('list: { shape: "rows" }');
    await mkdir(join(other, "empty"));
  });
});
