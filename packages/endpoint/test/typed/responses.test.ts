import { inspect } from "node:util";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { EndpointError } from "../../src/index.ts";
import { createTypedEndpoint, EndpointResponseError } from "../../src/typed/index.ts";
import type { paths } from "./blog-paths.ts";

const get = { params: { path: { "post-id": "1" } } };

function answering(response: Response) {
  return createTypedEndpoint<paths>({
    baseUrl: "https://blog.example",
    fetch: async () => response,
  });
}

/** A schema as Standard Schema defines it, which accepts texts that have an `@`. */
const address = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: async (value: unknown) =>
      typeof value === "string" && value.includes("@")
        ? { value: value.toLowerCase() }
        : { issues: [{ message: `"${String(value)}" is secret`, path: ["a", { key: "b\n" }, 0] }] },
  },
};

it.each([
  ["application/json", '{"a":1}', { a: 1 }],
  ["application/vnd.blog+json; charset=utf-8", "[1]", [1]],
  ["Application/JSON", "null", null],
  ["text/html", "<p>", "<p>"],
  ["text/plain;charset=utf-8", '{"a":1}', '{"a":1}'],
  ["application/json", "", undefined],
  ["text/html", "", undefined],
  ["application/octet-stream", "", undefined],
])("data of the type %s and the text %j is %j", async (type, text, data) => {
  const response = new Response(text, { headers: { "content-type": type } });
  expect(await answering(response).GET("/posts/{post-id}", get)).toEqual({
    ok: true,
    status: 200,
    data,
    response,
  });
});

it("data of any other type is a blob", async () => {
  const headers = { "content-type": "application/jsonish" };
  const { data } = await answering(new Response("{}", { headers })).GET("/posts/{post-id}", get);
  expect(await (data as unknown as Blob).text()).toBe("{}");
});

it("parseAs reads data of any type", async () => {
  const api = createTypedEndpoint<paths>({ fetch: async () => new Response('{"a":1}') });
  const read = async (parseAs: "json" | "text" | "blob" | "arrayBuffer" | "stream") =>
    (await api.GET("/posts", { parseAs })).data;
  expect(await read("json")).toEqual({ a: 1 });
  expect(await read("text")).toBe('{"a":1}');
  expect(await read("blob")).toBeInstanceOf(Blob);
  expect(await read("arrayBuffer")).toBeInstanceOf(ArrayBuffer);
  expect(await read("stream")).toBeInstanceOf(ReadableStream);
});

it("__proto__ in a response is a property like any other", async () => {
  const { data } = await answering(
    new Response('{"__proto__":{"polluted":1}}', {
      headers: { "content-type": "application/json" },
    }),
  ).GET("/posts/{post-id}", get);
  expect(Object.hasOwn(data as object, "__proto__")).toBe(true);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

it.each([
  [404, "application/problem+json", '{"title":"none"}', { title: "none" }],
  [502, "text/html", "<h1>Bad gateway</h1>", "<h1>Bad gateway</h1>"],
  [500, "application/json", "{broken", "{broken"],
  [503, "application/json", "", undefined],
  [304, "application/json", null, undefined],
])("the error of a response with the status %i is read", async (status, type, text, error) => {
  const response = new Response(text, { status, headers: { "content-type": type } });
  const result = await answering(response).GET("/posts/{post-id}", { ...get, schema: address });
  expect(result).toEqual({ ok: false, status, error, response });
});

it("a response that is not JSON rejects without its text", async () => {
  const response = new Response("secret", { headers: { "content-type": "application/json" } });
  const error = await answering(response)
    .GET("/posts")
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(EndpointResponseError);
  expect(error).toBeInstanceOf(EndpointError);
  expect(error).toMatchObject({ code: "ERR_ENDPOINT_RESPONSE", status: 200, issues: [] });
  expect(inspect(error)).not.toContain('secret"');
  expect(error).toMatchObject({ message: "the response with the status 200 is not JSON" });
});

it("data is what the schema makes of it", async () => {
  const result = await answering(Response.json("A@B")).GET("/posts", { schema: address });
  expect(result.data).toBe("a@b");
});

it("an error of a schema names places, and shows no values in logs", async () => {
  const error = await answering(Response.json("s3cr3t"))
    .GET("/posts", { schema: address })
    .catch((thrown: unknown) => thrown);
  if (!(error instanceof EndpointResponseError)) throw error;
  expect(error.message).toBe(
    "the response with the status 200 is not what its schema expects: a.b?.0",
  );
  expect(error.issues[0]?.message).toContain("s3cr3t");
  expect(inspect(error, { showHidden: true }) + JSON.stringify(error)).not.toContain("s3cr3t");
});

it("an error of fetch rejects the call as it is", async () => {
  const cause = new TypeError("fetch failed");
  const api = createTypedEndpoint<paths>({ fetch: () => Promise.reject(cause) });
  await expect(api.GET("/posts")).rejects.toBe(cause);
});

it("calls go over a socket with the fetch of the platform", async () => {
  const server = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (text: string) => {
      response.writeHead(201, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: request.headers["idempotency-key"], ...JSON.parse(text) }));
    });
    if (request.method === "HEAD") response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const api = createTypedEndpoint<paths>({ baseUrl: `http://127.0.0.1:${port}` });
    const header = { "Idempotency-Key": "k" };
    const created = await api.POST("/posts", { params: { header }, body: { title: "T" } });
    expect([created.status, created.data]).toEqual([201, { id: "k", title: "T" }]);
    expect(await api.HEAD("/posts")).toMatchObject({ ok: true, status: 200, data: undefined });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
