import { createContext, empty, json, mockTransport } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  type ApiClient,
  ClientError,
  createClient,
  type PageResult,
  type Populated,
  ProblemError,
  type Result,
} from "../src/client/index.ts";
import { createApi } from "../src/http/api.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineRoute, type Route } from "../src/plan/route.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import { masterKey, memoryStore, noAccounts } from "./api-client.ts";

const post = defineResource({
  name: "post",
  path: "/blog-posts",
  schema: z.object({
    title: z.string().min(1).max(20),
    stars: z.number().int().default(0),
    tags: z.array(z.string()).optional(),
  }),
  access: { list: "public", show: "public", create: "master", update: "master", remove: "master" },
  search: ["title"],
  sort: ["title", "stars"],
  filter: ["title", "stars", "tags"],

  bulk: true,
});

const publish = defineRoute({
  method: "POST",
  path: "/blog-posts/:id/publications/:url",
  operation: "publishPost",
  summary: "Publishes",
  tag: "blog-posts",
  access: "master",
  body: z.object({ at: z.string() }),
  response: z.object({ id: z.string(), url: z.string(), at: z.string() }),
  responses: { 201: { description: "Published" } },
  handle: ({ params, body }) => json({ ...params, at: body.at }, { status: 201 }),
});

const ping = defineRoute({
  method: "GET",
  path: "/ping",
  operation: "ping",
  summary: "Answers",
  tag: "ping",
  access: "public",
  query: [{ name: "echo", description: "Comes back", schema: { type: "string" } }],
  responses: { 204: { description: "Here" } },
  handle: ({ query }) => empty(204, { headers: { echo: query.get("echo") ?? "" } }),
});

const plain: readonly Route[] = [{ ...ping, path: "/plain", operation: "plain" }];

async function makeApi() {
  return createApi({
    title: "Test",
    version: "1.0.0",
    store: await memoryStore(),
    authentication: noAccounts(),
    routes: [...resourceRoutes(post, createResourceController(post)), publish, ping, ...plain],
  });
}

type TestApi = Awaited<ReturnType<typeof makeApi>>;
type TestClient = ReturnType<typeof createClient<TestApi>>;

interface Post {
  readonly id: string;
  title: string;
  stars: number;
  tags?: string[] | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

async function open(options: { readonly token?: string } = { token: masterKey }) {
  const api = await makeApi();
  const requests: string[] = [];
  const server = await serve(
    (request, context) => {
      requests.push(`${request.method} ${decodeURIComponent(request.url.replace(/^.*?:\d+/, ""))}`);
      return api.handler(request, context);
    },
    { port: 0, hostname: "127.0.0.1" },
  );
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const client = createClient<typeof api>({ baseUrl: server.url, ...options });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return { api, client, requests, url: server.url };
}

async function refusal(call: Promise<unknown>): Promise<ProblemError> {
  const error: unknown = await call.then(
    () => expect.fail("was not refused"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProblemError);
  return error as ProblemError;
}

describe("a refused call", () => {
  it("rejects with status, field and rule of the problem", async () => {
    const { client } = await open();
    const error = await refusal(client.blogPosts.create({ title: "" }));
    expect(error).toMatchObject({
      code: "ERR_REST_PROBLEM",
      status: 400,
      param: "title",
      rule: "minlength",
      errors: [{ param: "title", name: "minlength", message: expect.any(String) }],
    });
    expect(error.message).toBe(error.errors[0]?.message);
  });

  it("goes to neither of two resources of one name", async () => {
    const schema = z.object({ text: z.string() });
    const [own, other] = ["/notes", "/admin/notes"].map((path, index) =>
      defineResource({ name: `note${index}`, path, schema, access: { create: "public" } }),
    );
    const routes = [own, other].flatMap((one) =>
      one ? resourceRoutes(one, createResourceController(one)) : [],
    );
    const store = await memoryStore();
    const api = createApi({
      title: "T",
      version: "1",
      store,
      authentication: noAccounts(),
      routes,
    });
    const transport = mockTransport(() => expect.fail("nothing is sent"));
    const client = createClient<TestApi>({
      baseUrl: "http://api.example",
      openApi: api.openApi,
      transport,
    });
    const call = Reflect.get(client, "notes") as TestClient["blogPosts"];
    await expect(call.create({ title: "a" })).rejects.toMatchObject({ code: "ERR_REST_OPERATION" });
  });

  it("tells 401, 404 and 412 apart, with the tag that the document has now", async () => {
    const { client } = await open({});
    expect((await refusal(client.blogPosts.create({ title: "a" }))).status).toBe(401);
    expect((await refusal(client.blogPosts.show("none"))).status).toBe(404);
    const { client: master } = await open();
    const { data, etag } = await master.blogPosts.create({ title: "a" });
    await master.blogPosts.update(data.id, { stars: 1 }, { ifMatch: etag });
    const late = await refusal(master.blogPosts.update(data.id, { stars: 2 }, { ifMatch: etag }));
    expect(late).toMatchObject({ status: 412, etag: expect.stringMatching(/^"2[."]/) });
  });

  it.each([
    ["an answer of a proxy", "<h1>Bad Gateway</h1>", "text/html"],
    ["a list", "[1]", "application/json"],
    ["broken JSON", "{", "application/problem+json"],
    ["a problem of other types", '{"detail":1,"errors":[{"param":1},null]}', "application/json"],
  ])("is told by its status alone for %s", async (_what, body, type) => {
    const api = await makeApi();
    const handler = () => new Response(body, { status: 502, headers: { "content-type": type } });
    const client = createClient<TestApi>({
      baseUrl: "http://api.example",
      openApi: api.openApi,
      transport: mockTransport(handler),
    });
    const error = await refusal(client.blogPosts.show("1"));
    expect(error).toMatchObject({ status: 502, param: undefined, errors: [] });
    expect(error.message).toBe("the API responded with status 502");
  });

  it.each(["..", ".", ""])("is made of no identifier that changes the path: %j", async (id) => {
    const { client, requests } = await open();
    await expect(client.blogPosts.remove(id)).rejects.toThrow();
    expect(requests.filter((line) => line.startsWith("DELETE"))).toEqual([]);
  });

  it("is an operation that the API does not have", async () => {
    const { client } = await open();
    const other = client as unknown as Record<string, { list(): Promise<unknown> }>;
    await expect(other["nothing"]?.list()).rejects.toMatchObject({ code: "ERR_REST_OPERATION" });
    await expect(client.blogPosts.restore("1")).rejects.toBeInstanceOf(ClientError);
  });

  it.each([
    ["a status", new Response("no", { status: 500 })],
    ["no JSON", new Response("<html>")],
    ["JSON without paths", Response.json({})],
    ["a path to another host", Response.json({ paths: { "//evil.example/x": { get: {} } } })],
  ])("is one whose description is %s, and the next call asks again", async (_what, bad) => {
    const api = await makeApi();
    const answers = [bad];
    const client = createClient<TestApi>({
      baseUrl: "http://api.example",
      transport: mockTransport(
        (request, context) => answers.shift() ?? api.handler(request, context),
      ),
    });
    await expect(client.blogPosts.list()).rejects.toMatchObject({ code: "ERR_REST_DESCRIPTION" });
    expect((await client.blogPosts.list()).data).toEqual([]);
  });

  it("is answered with something that is not JSON", async () => {
    const api = await makeApi();
    const client = createClient<TestApi>({
      baseUrl: "http://api.example",
      openApi: api.openApi,
      transport: mockTransport(({ url }) => new Response(url.includes("/ping") ? "pong" : "1")),
    });
    await expect(client.ping()).rejects.toMatchObject({ code: "ERR_REST_RESPONSE" });
    await expect(client.blogPosts.list()).rejects.toMatchObject({ code: "ERR_REST_RESPONSE" });
  });
});

describe("a client", () => {
  it("creates, shows, changes, patches and removes over a socket", async () => {
    const { client } = await open();
    const created = await client.blogPosts.create({ title: "a", tags: ["x"] });
    expect(created).toMatchObject({ status: 201, etag: '"1"', data: { title: "a", stars: 0 } });
    expect(created.location).toBe(`/blog-posts/${created.data.id}`);
    const { id } = created.data;
    expect((await client.blogPosts.show(id)).data).toEqual(created.data);
    const updated = await client.blogPosts.update(id, { stars: 3 }, { ifMatch: created.etag });
    expect(updated).toMatchObject({ etag: '"2"', data: { title: "a", stars: 3, tags: ["x"] } });
    expect((await client.blogPosts.patch(id, { tags: null })).data).not.toHaveProperty("tags");
    const unchanged = await client.blogPosts.show(id, { ifNoneMatch: '"3"' });
    expect([unchanged.status, unchanged.data]).toEqual([304, undefined]);
    expect((await client.blogPosts.remove(id)).status).toBe(204);
    expect((await refusal(client.blogPosts.show(id))).status).toBe(404);
  });

  it("does many things at once, and names the item that is at fault", async () => {
    const { client } = await open();
    const { data: old } = await client.blogPosts.create({ title: "old" });
    const { data } = await client.blogPosts.bulk([
      { op: "create", body: { title: "new" } },
      { op: "update", id: old.id, version: 1, body: { stars: 2 } },
      { op: "remove", id: old.id, version: 2 },
    ]);
    expect(data.map(({ status, body }) => [status, body?.title])).toEqual([
      [201, "new"],
      [200, "old"],
      [204, undefined],
    ]);
    const late = await refusal(client.blogPosts.bulk([{ op: "remove", id: old.id }]));
    expect(late).toMatchObject({ status: 404, errors: [{ index: 0 }] });
  });

  it("repeats a creation under one key without a second document", async () => {
    const { client } = await open();
    const idempotencyKey = crypto.randomUUID();
    const first = await client.blogPosts.create({ title: "a" }, { idempotencyKey });
    const again = await client.blogPosts.create({ title: "a" }, { idempotencyKey });
    expect(again.data).toEqual(first.data);
    expect(again.header("Idempotency-Replayed")).toBe("true");
    expect((await client.blogPosts.list()).total).toBe(1);
  });

  it("asks for the description once, however many calls wait for it", async () => {
    const { client, requests } = await open();
    await Promise.all([client.blogPosts.list(), client.ping(), client.blogPosts.list()]);
    expect(requests.filter((line) => line.endsWith("/openapi.json"))).toHaveLength(1);
  });

  it("asks for no description when it is given", async () => {
    const { api, url, requests } = await open();
    const client = createClient<typeof api>({ baseUrl: url, openApi: api.openApi });
    onTestFinished(() => client[Symbol.asyncDispose]());
    await client.blogPosts.list();
    expect(requests).toEqual(["GET /blog-posts"]);
  });

  it("sends the parameters of a list, lists with commas, and leaves out what is not given", async () => {
    const { client, requests } = await open();
    await client.blogPosts.create({ title: "tea & milk", stars: 4 });
    await client.blogPosts.create({ title: "coffee" });
    const found = await client.blogPosts.list({
      q: "tea & milk",
      limit: 3,
      sort: ["-stars", "title"],
      fields: "title",
      page: undefined,
    });
    expect(requests.at(-1)).toBe(
      "GET /blog-posts?q=tea & milk&limit=3&sort=-stars,title&fields=title",
    );
    expect(found).toMatchObject({
      total: 1,
      isTotalCapped: false,
      next: undefined,
      data: [{ title: "tea & milk" }],
    });
  });

  it("says of a list when there are more documents than were counted", async () => {
    const api = await makeApi();
    const headers = { "x-total-count": "1000", "x-total-count-capped": "true" };
    const client = createClient<TestApi>({
      baseUrl: "http://api.example",
      openApi: api.openApi,
      transport: mockTransport(() => Response.json([], { headers })),
    });
    expect(await client.blogPosts.list()).toMatchObject({ total: 1000, isTotalCapped: true });
  });

  it("goes through all pages, and only as far as it is asked", async () => {
    const { client, requests } = await open();
    for (const title of ["a", "b", "c", "d", "e"]) await client.blogPosts.create({ title });
    const titles: string[] = [];
    for await (const { data } of client.blogPosts.pages({ limit: 2, sort: "title" })) {
      titles.push(data.map(({ title }) => title).join(""));
    }
    expect(titles).toEqual(["ab", "cd", "e"]);
    const before = requests.length;
    for await (const { total } of client.blogPosts.pages({ limit: 2 })) {
      expect(total).toBe(5);
      break;
    }
    expect(requests.length - before).toBe(1);
  });

  it("calls a route of one's own by its operation, whatever its parameters are called", async () => {
    const { client, requests } = await open();
    const reply = await client.publishPost({
      params: { id: "1", url: "https://x.example/?a" },
      body: { at: "now" },
    });
    expect(reply.data).toEqual({ id: "1", url: "https://x.example/?a", at: "now" });
    expect(requests.at(-1)).toBe("POST /blog-posts/1/publications/https://x.example/?a");
    const pong = await client.ping(undefined, { query: { echo: "é" } });
    expect([pong.status, pong.data]).toEqual([204, undefined]);
  });

  it("asks its function for the token before each request", async () => {
    const api = await makeApi();
    const token = vi.fn<() => string | undefined>().mockReturnValueOnce(undefined);
    token.mockReturnValue(masterKey);
    const client = createClient<typeof api>({
      baseUrl: "http://api.example",
      openApi: api.openApi,
      token,
      transport: mockTransport(api.handler),
    });
    expect((await refusal(client.blogPosts.create({ title: "a" }))).status).toBe(401);
    expect((await client.blogPosts.create({ title: "a" })).status).toBe(201);
  });

  it("shows its token in no error", async () => {
    const { client } = await open({ token: "s3cret-token" });
    const error = await refusal(client.blogPosts.create({ title: "a" }));
    expect(`${JSON.stringify(error)} ${error.stack}`).not.toContain("s3cret-token");
  });

  it("keeps the path of its base URL", async () => {
    const api = await makeApi();
    const urls: string[] = [];
    const client = createClient<typeof api>({
      baseUrl: "http://api.example/v1/",
      transport: mockTransport((request) => {
        urls.push(request.url);
        const inner = new Request(request.url.replace("/v1/", "/"), request);
        return api.handler(inner, createContext(inner));
      }),
    });
    await client.blogPosts.list();
    expect(urls).toEqual([
      "http://api.example/v1/openapi.json",
      "http://api.example/v1/blog-posts",
    ]);
  });

  it("is not a promise, so that it can be returned from an async function", async () => {
    const { client } = await open();
    expect(await Promise.resolve(client)).toBe(client);
  });

  it("ends a call with its signal", async () => {
    const { client } = await open();
    const call = client.blogPosts.list({}, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the types of a client", () => {
  it("are those of the definitions", () => {
    type Blog = ApiClient<TestApi>;
    expectTypeOf<Parameters<Blog["blogPosts"]["create"]>[0]>().toEqualTypeOf<{
      title: string;
      stars?: number | undefined;
      tags?: string[] | undefined;
    }>();
    const show = (client: Blog) => client.blogPosts.show("1");
    expectTypeOf<Awaited<ReturnType<typeof show>>["data"]>().branded.toEqualTypeOf<Post>();
    const list = (client: Blog) => client.blogPosts.list({ q: "a", "stars[gte]": 3 });
    expectTypeOf<Awaited<ReturnType<typeof list>>>().toExtend<PageResult<Post>>();
    const some = (client: Blog) => client.blogPosts.list({ fields: ["title"] });
    expectTypeOf<Awaited<ReturnType<typeof some>>["data"][number]["stars"]>().toEqualTypeOf<
      number | undefined
    >();
    const publishing = (client: Blog) =>
      client.publishPost({ params: { id: "1", url: "u" }, body: { at: "now" } });
    expectTypeOf<Awaited<ReturnType<typeof publishing>>>().toExtend<
      Result<{ id: string; url: string; at: string }>
    >();
  });

  it("say which fields `populate` fills with documents, and leave the others", () => {
    type Document = Readonly<Record<string, unknown>>;
    interface Book {
      readonly id: string;
      readonly title: string;
      readonly state: "here" | "lent";
      readonly author: string;
      readonly editor?: string | undefined;
      readonly tags: string[];
    }
    type One = Populated<Book, "author.books" | "editor">;
    expectTypeOf<One["author"]>().toEqualTypeOf<string | Document | null>();
    expectTypeOf<One["editor"]>().toEqualTypeOf<string | Document | null | undefined>();
    expectTypeOf<Pick<One, "id" | "state" | "tags" | "title">>().branded.toEqualTypeOf<
      Pick<Book, "id" | "state" | "tags" | "title">
    >();
    type Joined = Populated<Book, "author, tags,reviews">;
    expectTypeOf<Joined["tags"]>().toEqualTypeOf<readonly (string | Document | null)[]>();
    expectTypeOf<Joined["author"]>().toEqualTypeOf<string | Document | null>();
    expectTypeOf<Joined["reviews"]>().toEqualTypeOf<unknown>();
    expectTypeOf<Joined["title"]>().toEqualTypeOf<string>();
    expectTypeOf<Populated<Book>["title"]>().toEqualTypeOf<string | Document | null>();
    expectTypeOf<Populated<Book>["state"]>().toEqualTypeOf<"here" | "lent">();
    expectTypeOf<Populated<Book>["anything"]>().toEqualTypeOf<unknown>();
    const list = (client: ApiClient<TestApi>) => client.blogPosts.list({ populate: ["writer"] });
    type Row = Awaited<ReturnType<typeof list>>["data"][number];
    expectTypeOf<Row["title"]>().toEqualTypeOf<string>();
    expectTypeOf<Row["writer"]>().toEqualTypeOf<unknown>();
    const show = (client: ApiClient<TestApi>) =>
      client.blogPosts.show("1", { query: { populate: "title" } });
    expectTypeOf<Awaited<ReturnType<typeof show>>["data"]["title"]>().toEqualTypeOf<
      string | Document | null
    >();
  });

  it("leave out fields of one document where others were asked for", () => {
    const show = (client: ApiClient<TestApi>) =>
      client.blogPosts.show("1", { query: { fields: ["title"] } });
    type Shown = Awaited<ReturnType<typeof show>>["data"];
    expectTypeOf<Shown["title"]>().toEqualTypeOf<string | undefined>();
  });

  it("filter by one of several conditions", async () => {
    const { client } = await open();
    for (const [title, stars] of [
      ["Ant", 1],
      ["Bee", 2],
      ["Cat", 5],
    ] as const) {
      await client.blogPosts.create({ title, stars });
    }
    const where = { or: [{ stars: { gte: 5 } }, { title: "Ant" }] } as const;
    const found = await client.blogPosts.list({ where, sort: "title" });
    expect(found.data.map(({ title }) => title)).toEqual(["Ant", "Cat"]);
    const wrong = (typed: ApiClient<TestApi>): unknown[] => [
      // @ts-expect-error -- no such field
      typed.blogPosts.list({ where: { or: [{ writer: 1 }] } }),
      // @ts-expect-error -- no such operator
      typed.blogPosts.list({ where: { stars: { near: 1 } } }),
    ];
    expect(wrong).toBeTypeOf("function");
  });

  it("refuse what the API does not have", () => {
    const wrong = (client: ApiClient<TestApi>): unknown[] => [
      // @ts-expect-error -- no such resource
      client.comments,
      // @ts-expect-error -- a route whose types were given up
      client.plain,
      // @ts-expect-error -- no such field
      client.blogPosts.list({ sort: "author" }),
      // @ts-expect-error -- no such filter
      client.blogPosts.list({ "stars[near]": 3 }),
      // @ts-expect-error -- no such field
      client.blogPosts.show("1", { query: { fields: ["nothing"] } }),
      // @ts-expect-error -- the same, next to what there is
      client.blogPosts.show("1", { query: { populate: "writer", fields: ["nothing"] } }),
      // @ts-expect-error -- the title is missing
      client.blogPosts.create({ stars: 3 }),
      // @ts-expect-error -- of another type
      client.blogPosts.update("1", { title: 3 }),
      // @ts-expect-error -- a parameter of the path is missing
      client.publishPost({ params: { id: "1" }, body: { at: "now" } }),
      // @ts-expect-error -- the body is missing
      client.publishPost({ params: { id: "1", url: "u" } }),
    ];
    expect(wrong).toBeTypeOf("function");
  });

  it("are those of a list of routes too", () => {
    const routes = [...resourceRoutes(post, createResourceController(post)), ping];
    expectTypeOf<Extract<keyof ApiClient<typeof routes>, string>>().toEqualTypeOf<
      "blogPosts" | "ping"
    >();
  });
});

it("bundles without any code of the server", async () => {
  const build = await rolldown({
    input: join(import.meta.dirname, "../src/client/index.ts"),
    resolve: { conditionNames: ["@fetchwork/source", "browser", "import", "default"] },
    platform: "browser",
  });
  const { output } = await build.generate({ format: "es", minify: true });
  await build.close();
  const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  const packages = modules.map((id) => id.replace(/^.*\/(?:packages|node_modules)\/(.*)$/, "$1"));
  expect(packages.filter((id) => id.startsWith("rest/src/"))).toSatisfy((own: string[]) =>
    own.every((id) => id.startsWith("rest/src/client/")),
  );
  const foreign = packages.filter((id) => !/^(?:rest|http|endpoint|kit)\/src\//.test(id));
  expect(foreign).toEqual([]);
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("");
  expect(code).not.toMatch(/from\s*["'](?:node:|hono|jose)/);
});
