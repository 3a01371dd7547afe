import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBlog } from "../examples/blog/test/open-blog.ts";

const runFile = promisify(execFile);
const masterKey = "test-master-key-test-master-key-0";

/** Uses the generated types as somebody would who reads them for the first time. */
const typesInUse = `
import type { components, paths } from "./schema.d.ts";
type Article = components["schemas"]["Article"];
const article: Article = { id: "1", title: "One", content: "", createdAt: "", updatedAt: "" };
const created: components["schemas"]["NewArticle"] = { title: article.title, content: "" };
const patch: components["schemas"]["ArticlePatch"] = { content: null };
// @ts-expect-error A title is required, so that no patch removes it.
const wrong: components["schemas"]["ArticlePatch"] = { title: null };
type Listed = paths["/articles"]["get"]["responses"]["200"]["content"]["application/json"];
const titles = (list: Listed): (string | undefined)[] => list.map(({ title }) => title);
type Refused = paths["/articles"]["post"]["responses"]["400"]["content"]["application/problem+json"];
const reason = ({ message }: Refused): string => message;
export { created, patch, reason, titles, wrong };
`;

/** Signs in, creates, lists and is refused through the generated functions. */
const clientInUse = `
import { client } from "./client/client.gen.js";
import { createArticle, createUser, listArticles, signIn } from "./client/index.js";
const [baseUrl = "", masterKey = ""] = process.argv.slice(2);
client.setConfig({ baseUrl });
const user = { email: "ann@example.com", password: "123456" };
const master = { authorization: "Bearer " + masterKey };
const created = await createUser({ body: user, headers: master });
const basic = Buffer.from(user.email + ":" + user.password).toString("base64");
const session = await signIn({
  headers: { authorization: "Basic " + basic },
  body: { access_token: masterKey },
});
client.setConfig({ baseUrl, headers: { authorization: "Bearer " + session.data?.token } });
const article = await createArticle({ body: { title: "One" } });
const refused = await createArticle({ body: { title: "" } });
const listed = await listArticles({ query: { q: "one" } });
console.log(
  JSON.stringify([
    created.response?.status,
    article.data?.title,
    refused.error?.param,
    listed.data?.map(({ title }) => title),
  ]),
);
`;

const compilerOptions = {
  target: "es2024",
  module: "nodenext",
  strict: true,
  skipLibCheck: true,
  outDir: "built",
  types: ["node"],
};

let folder = "";
/** Why the tests are left out. */
let reason: string | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "openapi-generators-"));
  cpSync(join(import.meta.dirname, "openapi-generators"), folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  try {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "pipe" });
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    reason = "the generators cannot be installed without the registry";
  }
  const store = await openStore("sqlite::memory:");
  const { openApi } = openBlog(store);
  await store.close();
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApi));
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of the generators; fails with what it wrote. */
function run(program: string, args: readonly string[]): void {
  const path = join(folder, "node_modules", program);
  const { status, stdout } = spawnSync(process.execPath, [path, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([0, stdout]);
}

describe("the OpenAPI document of the blog", () => {
  it("becomes types of named documents by openapi-typescript", { timeout: 60_000 }, (context) => {
    context.skip(reason !== undefined, reason);
    run("openapi-typescript/bin/cli.js", ["openapi.json", "-o", "schema.d.ts"]);
    writeFileSync(join(folder, "use-types.ts"), typesInUse);
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--allowImportingTsExtensions",
    ];
    run("typescript/bin/tsc", [...options, "use-types.ts"]);
    const types = readFileSync(join(folder, "schema.d.ts"), "utf8");
    const names = ["Article", "NewArticle", "ArticleUpdate", "ArticlePatch", "User", "Problem"];
    for (const name of names) expect(types).toContain(`        ${name}: {`);
    expect(types.split("\n").length).toBeLessThan(4_000);
  });

  it(
    "becomes a client that works by @hey-api/openapi-ts",
    { timeout: 120_000 },
    async (context) => {
      context.skip(reason !== undefined, reason);
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      run("@hey-api/openapi-ts/bin/run.js", ["-i", "openapi.json", "-o", "client"]);
      writeFileSync(join(folder, "use-client.ts"), clientInUse);
      writeFileSync(
        join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: ["use-client.ts"] }),
      );
      run("typescript/bin/tsc", ["--project", "tsconfig.json"]);
      await using store = await openStore("sqlite::memory:");
      const { handler } = openBlog(store);
      const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
      try {
        const program = join(folder, "built/use-client.js");
        const { stdout } = await runFile(process.execPath, [program, server.url, masterKey]);
        expect(JSON.parse(stdout)).toEqual([201, "One", "title", ["One"]]);
      } finally {
        await server.close();
      }
    },
  );
});
