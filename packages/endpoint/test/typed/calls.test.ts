import { afterEach, expect, it, vi } from "vitest";
import { createTypedEndpoint, type TypedEndpointOptions } from "../../src/typed/index.ts";
import type { paths } from "./blog-paths.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A caller that records what it would send. */
function recording(options: TypedEndpointOptions = {}) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push({ url, init });
    return new Response(null, { status: 204 });
  };
  const api = createTypedEndpoint<paths>({
    baseUrl: "https://blog.example/v1/",
    fetch,
    ...options,
  });
  const last = (): Request => {
    const { url, init } = sent.at(-1) ?? { url: "nothing was sent", init: {} };
    return new Request(url, init);
  };
  return { api, sent, last };
}

const file = (dir: string, name: string) => ({ params: { path: { dir, name } } });

it.each([
  ["../../admin", "/v1/files/..%2F..%2Fadmin/x"],
  ["a?b=c", "/v1/files/a%3Fb%3Dc/x"],
  ["a#b", "/v1/files/a%23b/x"],
  ["a/b\\c", "/v1/files/a%2Fb%5Cc/x"],
  ["a\r\nHost: evil", "/v1/files/a%0D%0AHost%3A%20evil/x"],
  ["a\0b", "/v1/files/a%00b/x"],
  ["%2e%2e", "/v1/files/%252e%252e/x"],
  ["{name}", "/v1/files/%7Bname%7D/x"],
  ["@evil.example", "/v1/files/%40evil.example/x"],
  ["...", "/v1/files/.../x"],
  ["\ud800", "/v1/files/%EF%BF%BD/x"],
  ["$&", "/v1/files/%24%26/x"],
])("the path parameter %j cannot leave its place", async (value, pathname) => {
  const { api, last } = recording();
  await api.GET("/files/{dir}/{name}", file(value, "x"));
  expect(last().url).toBe(`https://blog.example${pathname}`);
});

it.each([
  [".", "ERR_ENDPOINT_PATH"],
  ["..", "ERR_ENDPOINT_PATH"],
  ["", "ERR_ENDPOINT_MISSING"],
  [undefined, "ERR_ENDPOINT_MISSING"],
  [null, "ERR_ENDPOINT_MISSING"],
  [Number.NaN, "ERR_ENDPOINT_MISSING"],
  [[], "ERR_ENDPOINT_MISSING"],
  [() => 1, "ERR_ENDPOINT_VALUE"],
])("the path parameter %j is refused before anything is sent", async (value, code) => {
  const { api, sent } = recording();
  for (const path of [
    { dir: "a", name: value as string },
    { dir: value as string, name: "a" },
  ]) {
    await expect(api.GET("/files/{dir}/{name}", { params: { path } })).rejects.toMatchObject({
      code,
    });
  }
  expect(sent).toEqual([]);
});

it("members of Object.prototype are not parameters", async () => {
  const { api } = recording();
  const get = api.GET as (path: string, options: object) => Promise<unknown>;
  await expect(get("/{constructor}", { params: { path: {} } })).rejects.toMatchObject({
    code: "ERR_ENDPOINT_MISSING",
  });
});

it.each(["posts", ".evil.example/", "@evil.example", "//evil.example/", ""])(
  "the path %j is refused, because it could change the host",
  async (path) => {
    const { api, sent } = recording({ baseUrl: "https://blog.example" });
    const get = api.GET as (path: string) => Promise<unknown>;
    await expect(get(path)).rejects.toMatchObject({ code: "ERR_ENDPOINT_TEMPLATE" });
    expect(sent).toEqual([]);
  },
);

it("names with a hyphen, and a colon in the path, are those of the description", async () => {
  const { api, last } = recording();
  await api.POST("/posts/{post-id}:publish", { params: { path: { "post-id": "a b" } } });
  expect(last().url).toBe("https://blog.example/v1/posts/a%20b:publish");
  expect([last().method, last().body]).toEqual(["POST", null]);
});

it("texts and lists of a query are exploded, objects have brackets", async () => {
  const { api, last } = recording();
  const query = { page: 2, tag: ["a&b", "c"], filter: { author: "é", state: "draft" as const } };
  await api.GET("/posts", { params: { query } });
  expect(new URL(last().url).search).toBe(
    "?page=2&tag=a%26b&tag=c&filter[author]=%C3%A9&filter[state]=draft",
  );
});

it("names and values of a query cannot add parameters, and what is absent is left out", async () => {
  const { api, last } = recording();
  const query = { "a&b=c#": "d&e=f#g", none: undefined, nil: null, empty: [], text: "" };
  await api.GET("/posts", { params: { query: query as object } });
  expect(new URL(last().url).search).toBe("?a%26b%3Dc%23=d%26e%3Df%23g&text=");
});

it("objects inside objects of a query are refused", async () => {
  const { api } = recording();
  const query = { filter: { author: { name: "a" } } };
  await expect(api.GET("/posts", { params: { query: query as object } })).rejects.toMatchObject({
    code: "ERR_ENDPOINT_VALUE",
  });
});

it("a querySerializer writes the query, that of the call first", async () => {
  const { api, last } = recording({ querySerializer: () => "all=1" });
  await api.GET("/posts");
  expect(new URL(last().url).search).toBe("?all=1");
  await api.GET("/posts", {
    params: { query: { tag: ["a", "b"] } },
    querySerializer: ({ tag }) => `tag=${String(tag)}`,
  });
  expect(new URL(last().url).search).toBe("?tag=a,b");
});

it("header parameters win over headers of the call, and these over the defaults", async () => {
  const { api, last } = recording({ headers: { authorization: "Bearer a", "x-a": "1" } });
  await api.POST("/posts", {
    params: { header: { "Idempotency-Key": "k", "X-Dry-Run": true } },
    headers: { "X-A": null, "idempotency-key": "other" },
    body: { title: "T" },
  });
  expect(Object.fromEntries(last().headers)).toEqual({
    authorization: "Bearer a",
    "content-type": "application/json",
    "idempotency-key": "k",
    "x-dry-run": "true",
  });
});

it("a line break in a header parameter is refused", async () => {
  const { api, sent } = recording();
  const header = { "Idempotency-Key": "a\r\nx-evil: 1" };
  await expect(
    api.POST("/posts", { params: { header }, body: { title: "T" } }),
  ).rejects.toMatchObject({ code: "ERR_ENDPOINT_HEADER" });
  expect(sent).toEqual([]);
});

it("cookie parameters are encoded, and follow those of the headers", async () => {
  const { api, sent } = recording();
  await api.GET("/posts", {
    params: { cookie: { session: "a; admin=1\r\n" } },
    headers: { cookie: "lang=en" },
  });
  expect(sent[0]?.init.headers).toEqual({ cookie: "lang=en; session=a%3B%20admin%3D1%0D%0A" });
});

it("data is sent as JSON, and a body of another kind as it is", async () => {
  const { api, last, sent } = recording();
  const params = { header: { "Idempotency-Key": "k" } };
  await api.POST("/posts", { params, body: { title: "é" } });
  expect(await last().json()).toEqual({ title: "é" });

  const form = new FormData();
  await api.PUT("/files/{dir}/{name}", { ...file("a", "b"), body: form });
  expect(sent.at(-1)?.init).toMatchObject({ body: form, headers: {} });
  const headers = { "content-type": "text/plain" };
  await api.PUT("/files/{dir}/{name}", { ...file("a", "b"), body: "text", headers });
  expect(await last().text()).toBe("text");
  const body = new Blob(["streamed"]).stream();
  await api.PUT("/files/{dir}/{name}", { ...file("a", "b"), body, headers });
  expect(await last().text()).toBe("streamed");
});

it("falsy data is a body", async () => {
  const { api, last } = recording();
  const post = api.POST as (path: string, options: object) => Promise<unknown>;
  for (const body of [0, false, null, ""]) {
    await post("/posts", { body });
    expect(await last().json()).toBe(body);
  }
});

it.each([
  [{ a: 1 }, "text/plain", "ERR_ENDPOINT_VALUE"],
  [{ a: 1n }, "application/json", "ERR_ENDPOINT_REQUEST"],
])("the body %o with the type %s is refused", async (body, type, code) => {
  const { api } = recording();
  const post = api.POST as (path: string, options: object) => Promise<unknown>;
  const options = { body, headers: { "content-type": type } };
  await expect(post("/posts", options)).rejects.toMatchObject({ code });
});

it("options of fetch are passed on, and none of them changes the method or the body", async () => {
  const { api, sent } = recording();
  const get = api.GET as (path: string, options: object) => Promise<unknown>;
  const { signal } = new AbortController();
  await get("/posts", { signal, cache: "no-store", method: "DELETE" });
  expect(sent[0]?.init).toEqual({ signal, cache: "no-store", method: "GET", headers: {} });
});

it.each([
  [{ baseUrl: "https://a.example?x" }, "ERR_ENDPOINT_OPTION"],
  [{ base: "https://a.example" }, "ERR_ENDPOINT_OPTION"],
  [{ headers: { "a b": "1" } }, "ERR_ENDPOINT_HEADER"],
])("the factory refuses the options %j", (options, code) => {
  expect(() => createTypedEndpoint(options as object)).toThrow(expect.objectContaining({ code }));
});

it.each([[1], [{ params: 1 }], [{ params: { path: 1 } }], [{ parseAs: "xml" }]])(
  "a call refuses the options %j",
  async (options) => {
    const get = recording().api.GET as (path: string, options: unknown) => Promise<unknown>;
    await expect(get("/posts", options)).rejects.toMatchObject({ code: "ERR_ENDPOINT_OPTION" });
  },
);

it("the default is the fetch of the platform at the time of the call", async () => {
  const api = createTypedEndpoint<paths>({ baseUrl: "https://blog.example" });
  vi.stubGlobal("fetch", async (url: string) => Response.json([{ id: url }]));
  const { data } = await api.GET("/posts");
  expect(data).toEqual([{ id: "https://blog.example/posts" }]);
});
