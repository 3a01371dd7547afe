import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Store } from "@fetchwork/documents";
import type { Service } from "@fetchwork/service";
import { testService, type TestService } from "@fetchwork/service/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchwork } from "../../packages/fetchwork/test/new/project-world.ts";
import { codeBlocks } from "../../scripts/markdown.ts";
import { readText, root } from "../../scripts/workspace-packages.ts";
// Requests of a client to a blog of generator-rest 0.17.0, and what the generated program responds
// with, written down by hand from its behaviour, without the members that this page lists as
// different; "" is any text.
import record from "./records/generator-rest.json" with { type: "json" };

interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly basic?: string;
    readonly form?: Readonly<Record<string, string>>;
    readonly json?: Readonly<Record<string, string>>;
  };
  readonly response: { readonly status: number; readonly body?: unknown };
}

/** What a client reads of a response; which of the fields are there depends on the route. */
interface Body {
  readonly id: string;
  readonly token: string;
  readonly user: { readonly id: string };
}

const page = readText("docs/from-generator-rest.md");
let folder = "";
let service: TestService;
/** As the page says. */
const settings = { RESET_LINK_ORIGINS: "https://blog.example.com" };
/** What the client knows, by the names in braces. */
const known: Record<string, string> = {};

/** Makes the project by the commands and the files of the page. */
async function followPage(): Promise<void> {
  const [, commands = ""] = codeBlocks(page, "sh");
  const options = ["--packages", "registry", "--skip-git", "--skip-install"];
  for (const line of commands.split("\n")) {
    const [npx, program, command = "", ...args] = line.split(/\s+/);
    if (npx !== "npx" || program !== "fetchwork") continue;
    const isNew = command === "new";
    const cwd = isNew ? folder : join(folder, "blog");
    const ended = await fetchwork(cwd, command, ...args, ...(isNew ? options : []));
    expect(ended).toMatchObject({ code: 0, stderr: "" });
  }
  for (const text of codeBlocks(page, "ts")) {
    const [, file = ""] = /^\/\/ (src\/\S+)/.exec(text) ?? [];
    await writeFile(join(folder, "blog", file), text);
  }
  await symlink(join(root, "node_modules"), join(folder, "blog/node_modules"));
}

async function load<Module>(file: string): Promise<Module> {
  return (await import(pathToFileURL(join(folder, "blog", file)).href)) as Module;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "from-generator-rest-"));
  await followPage();
  const { app } = await load<{ app: Service }>("src/app.ts");
  service = await testService(app, { settings });
  known["master"] = service.masterKey;
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function fill(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? `{${name}}`);
}

async function repeat({ method, path, basic, form, json }: Exchange["request"]): Promise<Response> {
  const headers = new Headers();
  if (basic !== undefined) headers.set("authorization", `Basic ${btoa(basic)}`);
  let body: string | URLSearchParams | null = null;
  if (form !== undefined) {
    body = new URLSearchParams(Object.entries(form).map(([name, text]) => [name, fill(text)]));
  }
  if (json !== undefined) {
    headers.set("content-type", "application/json");
    body = fill(JSON.stringify(json));
  }
  return service.fetch(fill(path), { method, headers, body });
}

/** A recorded body, of which the response has at least the same fields; "" is any text. */
function shapeOf(value: unknown): unknown {
  if (value === "") return expect.any(String);
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, each]) => [name, shapeOf(each)]);
  return expect.objectContaining(Object.fromEntries(fields));
}

/** Notes what a client takes from a response. */
async function learn(name: string, body: Body): Promise<void> {
  if (name === "sign in" || name === "sign in again") {
    known["ada"] = body.token;
    known["adaId"] = body.user.id;
    const admin = { email: "admin@example.com", password: "123456", role: "admin" };
    const access_token = service.masterKey;
    const form = new URLSearchParams({ ...admin, access_token });
    await service.fetch("/users", { method: "POST", body: form });
    const signedIn = await service.fetch("/auth", {
      method: "POST",
      headers: { authorization: `Basic ${btoa("admin@example.com:123456")}` },
      body: new URLSearchParams({ access_token }),
    });
    known["admin"] = ((await signedIn.json()) as { token: string }).token;
  }
  if (name === "create an article") known["article"] = body.id;
}

describe("a blog that was converted by following from-generator-rest.md", () => {
  it.each(record as readonly Exchange[])(
    "responds to its clients as before: $name",
    async ({ name, request, response }) => {
      const responded = await repeat(request);
      const text = await responded.text();
      expect([responded.status, text]).toEqual([response.status, expect.any(String)]);
      const { body } = response;
      if (body === undefined) return;
      const value = JSON.parse(text) as Body;
      // Its words for the same conflict are others.
      const shape = name === "create a user again" ? { valid: false, param: "email" } : body;
      expect(value).toEqual(shapeOf(shape));
      await learn(name, value);
    },
  );
});

interface Articles {
  create(fields: object): Promise<{ readonly data: Body }>;
  update(id: string, fields: object): Promise<{ readonly data: Body }>;
}

/** The articles of a client of the project, which has no types here. */
function articlesOf(client: object): Articles {
  return (client as { readonly articles: Articles }).articles;
}

describe("the differences of from-generator-rest.md", () => {
  it("has the responses that the page names", async () => {
    const client = articlesOf(await service.as("user"));
    const other = articlesOf(await service.as("user"));
    const { data } = await client.create({ title: "Only a title" });
    expect(data).toMatchObject({ title: "Only a title", content: "" });
    expect(Object.keys(data.user)).toEqual(["id", "name", "picture"]);
    await expect(other.update(data.id, { title: "x" })).rejects.toMatchObject({ status: 403 });
    const { data: changed } = await client.update(data.id, { content: "A text" });
    expect(changed).toMatchObject({ title: "Only a title", content: "A text" });
    const found = await service.fetch("/articles?q=title");
    expect(await found.json()).toHaveLength(1);
    const unknown = await service.fetch("/articles?colour=red");
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ name: "unknown", param: "colour" });
    expect((await service.fetch("/articles/not-an-id")).status).toBe(404);
    expect((await service.fetch("/articles?page=31")).status).toBe(200);
    const page = await service.fetch("/articles?page=abc");
    expect(await page.json()).toMatchObject({ status: 400, param: "page", name: "type" });
    await expect(client.create({ title: 1 })).rejects.toMatchObject({ status: 400 });
    expect((await service.fetch("/Articles")).status).toBe(404);
    const basic = { authorization: `Basic ${btoa("ada:123456")}` };
    const body = new URLSearchParams({ access_token: service.masterKey });
    const signIn = await service.fetch("/auth", { method: "POST", headers: basic, body });
    expect(signIn.status).toBe(401);
    body.set("email", "nobody@example.com");
    body.set("link", "https://blog.example.com/reset");
    const reset = await service.fetch("/password-resets", { method: "POST", body });
    expect(reset.status).toBe(202);
    expect((await service.fetch("/users/me")).status).toBe(401);
  });
});

describe("the program of from-generator-rest.md that imports the data", () => {
  it("keeps ids, times and authors", async () => {
    const { app } = await load<{ app: Service }>("src/app.ts");
    await using blog = await testService(app, { settings });
    const exported = join(folder, "export");
    await mkdir(exported);
    const time = { $date: "2020-02-03T04:05:06.789Z" };
    const times = { createdAt: time, updatedAt: time };
    const author = { $oid: "5e3799a2b5c6d7e8f9a0b1c2" };
    const ada = { email: "ada@example.com", name: "Ada", picture: "https://a.example/a.png" };
    const user = {
      _id: author,
      ...ada,
      role: "user",
      password: "$2a$09$x",
      services: {},
      ...times,
    };
    const post = {
      _id: { $oid: "5e3799a2b5c6d7e8f9a0b1c3" },
      user: author,
      title: "Old",
      ...times,
    };
    await writeFile(join(exported, "users.json"), JSON.stringify([user]));
    await writeFile(join(exported, "articles.json"), JSON.stringify([post]));

    interface Import {
      importBlog(store: Store, folder: string): Promise<void>;
    }
    const { importBlog } = await load<Import>("src/import-blog.ts");
    await importBlog(blog.store, exported);

    const shown = await blog.fetch(`/articles/${post._id.$oid}`);
    expect(await shown.json()).toEqual({
      id: post._id.$oid,
      title: "Old",
      content: "",
      createdAt: time.$date,
      updatedAt: time.$date,
      user: { id: author.$oid, name: "Ada", picture: "https://a.example/a.png" },
    });
    const signIn = await blog.fetch("/auth", {
      method: "POST",
      headers: { authorization: `Basic ${btoa("ada@example.com:")}` },
      body: new URLSearchParams({ access_token: blog.masterKey }),
    });
    expect(signIn.status).toBe(401);

    const reset = await blog.fetch("/password-resets", {
      method: "POST",
      body: new URLSearchParams({
        email: "ada@example.com",
        link: "https://blog.example.com/reset",
        access_token: blog.masterKey,
      }),
    });
    expect(reset.status).toBe(202);
    const mail = await blog.nextMail("ada@example.com");
    const [, token = ""] = /reset\/([\w.-]+)/.exec(mail.text) ?? [];
    const changed = await blog.fetch(`/password-resets/${token}`, {
      method: "PUT",
      body: new URLSearchParams({ password: "another password" }),
    });
    expect(changed.status).toBe(200);
  });
});
