import { DocumentsError } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute, type Route } from "../../src/plan/route.ts";
import { Problem } from "../../src/problem.ts";
import type { Call } from "../../src/resource/call.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openApi } from "../api-client.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string().min(1),
    stars: z.number().int().min(0).max(5).optional(),
    done: z.boolean().default(false),
    tags: z.array(z.string()).default([]),
    marks: z.array(z.number()).optional(),
  }),
  access: { list: "public", show: "public", create: "public", update: "public", remove: "master" },
});
const routes = resourceRoutes(note, createResourceController(note));

function route(handle: () => Response | Promise<Response>): Route {
  return defineRoute({
    method: "GET",
    path: "/x",
    operation: "x",
    summary: "x",
    tag: "x",
    access: "public",
    responses: { 200: { description: "x" } },
    handle,
  });
}

function form(fields: readonly [string, string][]): RequestInit {
  return { body: new URLSearchParams(fields.map(([name, value]) => [name, value])) };
}

describe("createApi", () => {
  it("refuses a response without a description, and names its operation", async () => {
    const dated = { ...route(() => json(1)), response: z.object({ at: z.date() }) };
    await expect(openApi({ routes: [dated] })).rejects.toThrow("the schema of the response of x ");
  });

  it("refuses two routes of one method and path, and two operations of one name", async () => {
    const one = route(() => json(1));
    await expect(openApi({ routes: [one, { ...one, operation: "y" }] })).rejects.toThrow(RestError);
    await expect(openApi({ routes: [one, { ...one, path: "/y" }] })).rejects.toThrow(RestError);
  });

  it.each(["/nope", "/notes/1/2", "/notes%2f1", "/notes//1", "/openapi.yaml", "/docs/../x"])(
    "answers 404 at %s",
    async (path) => {
      const { send } = await openApi({ routes });
      const response = await send("GET", path);
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ status: 404, title: "Not Found" });
    },
  );

  it.each([
    ["DELETE", "/notes", "GET, HEAD, QUERY, POST, OPTIONS"],
    ["POST", "/notes/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"],
    ["POST", "/openapi.json", "GET, HEAD, OPTIONS"],
    ["PURGE", "/notes", "GET, HEAD, QUERY, POST, OPTIONS"],
  ])("answers 405 to %s %s with the methods that are allowed", async (method, path, allow) => {
    const { send } = await openApi({ routes });
    const response = await send(method, path);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    const options = await send("OPTIONS", path);
    expect([options.status, options.headers.get("allow")]).toEqual([204, allow]);
  });

  it.each([
    [
      "a body that is too large",
      {
        body: JSON.stringify({ text: "x".repeat(102_400) }),
        headers: { "content-type": "application/json" },
      },
      413,
    ],
    [
      "a media type that it does not know",
      { body: "text=a", headers: { "content-type": "text/csv" } },
      415,
    ],
    ["malformed JSON", { body: "{", headers: { "content-type": "application/json" } }, 400],
    [
      "two values of a single field",
      form([
        ["text", "a"],
        ["text", "b"],
      ]),
      400,
    ],
    [
      "a number that is none",
      form([
        ["text", "a"],
        ["stars", "many"],
      ]),
      400,
    ],
    [
      "a number out of its range",
      form([
        ["text", "a"],
        ["stars", "6"],
      ]),
      400,
    ],
    [
      "a truth value that is none",
      form([
        ["text", "a"],
        ["done", "maybe"],
      ]),
      400,
    ],
  ])("refuses %s and stores nothing", async (_what, init, status) => {
    const { send } = await openApi({ routes });
    const response = await send("POST", "/notes", init);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status });
    expect(await (await send("GET", "/notes")).json()).toEqual([]);
  });

  it.each(["a\\u0000b", "\\ud800"])("refuses the text %s, which no store keeps", async (text) => {
    const { send } = await openApi({ routes });
    const headers = { "content-type": "application/json" };
    const response = await send("POST", "/notes", { body: `{"text":"${text}"}`, headers });
    expect(await response.json()).toMatchObject({ status: 400, param: "text", name: "invalid" });
  });

  it("does not convert in JSON what it converts in forms", async () => {
    const { send } = await openApi({ routes });
    const headers = { "content-type": "application/json" };
    const response = await send("POST", "/notes", { body: '{"text":"a","stars":"3"}', headers });
    expect(await response.json()).toMatchObject({ status: 400, param: "stars", name: "type" });
  });

  it("converts the texts of a form to the types of the schema", async () => {
    const { send } = await openApi({ routes });
    const fields: [string, string][] = [
      ["text", "1"],
      ["stars", "3"],
      ["done", "true"],
      ["tags", "a"],
    ];
    const one = await send("POST", "/notes", form(fields));
    expect(await one.json()).toMatchObject({ text: "1", stars: 3, done: true, tags: ["a"] });
    const two = await send("POST", "/notes", form([...fields, ["tags", "b"]]));
    expect(await two.json()).toMatchObject({ tags: ["a", "b"] });
    const marks: [string, string][] = [
      ["marks", "1"],
      ["marks", "2.5"],
    ];
    const numbers = await send("POST", "/notes", form([...fields, ...marks]));
    expect(await numbers.json()).toMatchObject({ marks: [1, 2.5] });
    const wrong = await send("POST", "/notes", form([...fields, ["marks", "x"]]));
    expect(await wrong.json()).toMatchObject({ status: 400, param: "marks.0", name: "type" });
  });

  it.each([
    ["a compressed body", { "content-type": "application/json", "content-encoding": "gzip" }, 415],
    ["another charset", { "content-type": "application/json; charset=iso-8859-1" }, 415],
    ["UTF-8 by name", { "content-type": 'application/json; charset="UTF-8"' }, 201],
  ])("answers %s with %s %i", async (_what, headers, status) => {
    const { send } = await openApi({ routes });
    expect((await send("POST", "/notes", { body: '{"text":"a"}', headers })).status).toBe(status);
  });

  it("refuses a body that ends early as the client's fault, without reporting it", async () => {
    const reportError = vi.fn();
    const { send } = await openApi({ routes, reportError });
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error("aborted")),
    });
    const init = { body, duplex: "half", headers: { "content-type": "application/json" } };
    expect((await send("POST", "/notes", init)).status).toBe(400);
    expect(reportError).not.toHaveBeenCalled();
  });

  it("repeats few and short names of parameters that it does not know", async () => {
    const { send } = await openApi({ routes });
    const names = Array.from({ length: 500 }, (_, index) => `${"n".repeat(100)}${index}`);
    const response = await send("GET", `/notes/1?${names.join("&")}`);
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(4_000);
  });

  it("passes separate parameters to each call", async () => {
    const spoiling = route(() => json(1));
    const { send } = await openApi({
      routes: [
        ...routes,
        {
          ...spoiling,
          handle: ({ query }: { query: URLSearchParams }) => (query.set("a", "b"), json(1)),
        },
      ],
    });
    await send("GET", "/x");
    expect((await send("GET", "/notes/1")).status).toBe(404);
  });

  it("reaches a fixed path next to one with a parameter, whatever their order", async () => {
    const latest = { ...route(() => json("latest")), path: "/notes/latest" };
    const { send } = await openApi({ routes: [...routes, latest] });
    expect(await (await send("GET", "/notes/latest")).json()).toBe("latest");
  });

  it.each([
    ["two paths that differ in the parameter's name only", [{ path: "/notes/:slug" }]],
    ["a path without a slash", [{ path: "x" }]],
    ["a GET with a body", [{ body: z.object({ a: z.string() }) }]],
  ])("refuses %s", async (_what, [changes]) => {
    const one = { ...route(() => json(1)), ...changes };
    await expect(openApi({ routes: [...routes, one] })).rejects.toThrow(RestError);
  });

  it.each([Number.NaN, -1, 1.5])("refuses a body limit of %d", async (maxBodySize) => {
    await expect(openApi({ routes, maxBodySize })).rejects.toThrow(RestError);
  });

  it("answers a handler's own wrong query with 500, and reports it", async () => {
    const reportError = vi.fn();
    const wrong = {
      ...route(() => json(1)),
      handle: async ({ store }: Call) =>
        json(await store.collection(note.collection).find({ limit: -1 })),
    };
    const { send } = await openApi({ routes: [...routes, wrong], reportError });
    expect((await send("GET", "/x")).status).toBe(500);
    expect(reportError).toHaveBeenCalledOnce();
  });

  it.each([
    ["nothing", undefined],
    ["an object", { a: 1 }],
  ])(
    "answers a handler that returns %s with 500, and reports its operation",
    async (_what, value) => {
      const reportError = vi.fn<(error: unknown) => void>();
      const handle = (async () => value) as unknown as () => Promise<Response>;
      const { send } = await openApi({ routes: [route(handle)], reportError });
      expect((await send("GET", "/x")).status).toBe(500);
      expect(reportError.mock.calls[0]?.[0]).toMatchObject({
        code: "ERR_HTTP_RESPONSE",
        message: `the handler of x must return a Response, got ${typeof value}`,
      });
    },
  );

  it("answers what a handler throws with 500 that tells nothing, and reports it", async () => {
    const reportError = vi.fn();
    const secret = new Error("password of the database: s3cret");
    const { send } = await openApi({ routes: [route(() => Promise.reject(secret))], reportError });
    const response = await send("GET", "/x");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("s3cret");
    expect(reportError).toHaveBeenCalledExactlyOnceWith(secret, expect.any(Request));
  });

  it.each(["ERR_DOCUMENTS_BUSY", "ERR_DOCUMENTS_CONNECTION", "ERR_DOCUMENTS_TIMEOUT"] as const)(
    "answers 503 when the store fails with %s, and reports it",
    async (code) => {
      const reportError = vi.fn();
      const failure = new DocumentsError(code, "the secret name of a server");
      const routes = [route(() => Promise.reject(failure))];
      const { send } = await openApi({ routes, reportError });
      const response = await send("GET", "/x");
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await response.text()).not.toContain("secret");
      expect(reportError).toHaveBeenCalledExactlyOnceWith(failure, expect.any(Request));
    },
  );

  it("answers 507 when the disk of the store is full, and reports it", async () => {
    const reportError = vi.fn();
    const failure = new DocumentsError("ERR_DOCUMENTS_FULL", "the secret path of a file");
    const { send } = await openApi({ routes: [route(() => Promise.reject(failure))], reportError });
    const response = await send("GET", "/x");
    expect([response.status, response.headers.get("retry-after")]).toEqual([507, null]);
    expect(await response.text()).not.toContain("secret");
    expect(reportError).toHaveBeenCalledExactlyOnceWith(failure, expect.any(Request));
  });

  it("answers a Problem that a handler throws as it says, without reporting it", async () => {
    const reportError = vi.fn();
    const problem = new Problem(409, { detail: "archived", headers: { "retry-after": "1" } });
    const { send } = await openApi({ routes: [route(() => Promise.reject(problem))], reportError });
    const response = await send("GET", "/x");
    expect([response.status, response.headers.get("retry-after")]).toEqual([409, "1"]);
    expect(await response.json()).toEqual({
      type: "about:blank",
      title: "Conflict",
      status: 409,
      detail: "archived",
      message: "archived",
    });
    expect(reportError).not.toHaveBeenCalled();
  });

  it("answers an error that may be shown with its status and message", async () => {
    const reportError = vi.fn();
    const shown = Object.assign(new Error("no seats are left"), { status: 422, expose: true });
    const { send } = await openApi({ routes: [route(() => Promise.reject(shown))], reportError });
    const response = await send("GET", "/x");
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 422, detail: "no seats are left" });
    expect(reportError).not.toHaveBeenCalled();
  });

  it("answers the failure of an upstream client with 500, whatever its status, and reports it", async () => {
    const reportError = vi.fn();
    const failure = Object.assign(new Error("not found: s3cret"), { status: 404, statusCode: 404 });
    const { send } = await openApi({ routes: [route(() => Promise.reject(failure))], reportError });
    const response = await send("GET", "/x");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("s3cret");
    expect(reportError).toHaveBeenCalledExactlyOnceWith(failure, expect.any(Request));
  });

  it("answers a handler's write of a value that is not kept with 400 that names the field", async () => {
    let deep: unknown = "a";
    for (let level = 0; level < 2_000; level += 1) deep = [deep];
    const write = {
      ...route(() => json(1)),
      handle: async ({ store }: Call) => {
        const { collection }: Resource = note;
        return json(await store.collection(collection).insert({ text: deep }));
      },
    };
    const { send } = await openApi({ routes: [...routes, write] });
    expect(await (await send("GET", "/x")).json()).toMatchObject({ status: 400, name: "invalid" });
  });

  it("authenticates before it validates, also by password", async () => {
    const locked = defineRoute({
      method: "PUT",
      path: "/x",
      operation: "x",
      summary: "x",
      tag: "x",
      access: "password",
      body: z.object({ password: z.string().min(6) }),
      responses: { 200: { description: "x" } },
      handle: () => json(1),
    });
    const { send } = await openApi({ routes: [locked] });
    const refused = await send("PUT", "/x?nonsense=1", form([["password", "1"]]));
    expect(refused.status).toBe(401);
  });

  it.each([
    [{ routes, maxBodysize: 1 }, /createApi.*maxBodySize/],
    [{ routes, title: "T", cors: true }, /createApi has no option "cors"/],
  ])("refuses options that do not exist: %#", async (options, message) => {
    await expect(openApi(options)).rejects.toThrow(message);
  });

  it.each([
    [{ handler: () => json(1) }, /defineRoute has no option "handler", did you mean "handle"/],
    [{ acess: "public" }, /did you mean "access"/],
    [{ access: "everyone" }, /access of x must be one of public, user.*, got "everyone"/],
    [{ method: "get" }, /method of x must be one of GET, QUERY.*, got "get"/],
    [{ responses: undefined }, /responses of x must be an object .*, got undefined/],
    [{ query: { q: "string" } }, /query of x must be a list of \{ name, description.*, got /],
  ])("refuses a route of %o", (wrong, message) => {
    const define = (): Route => defineRoute({ ...route(() => json(1)), ...(wrong as object) });
    expect(define).toThrow(RestError);
    expect(define).toThrow(message);
  });

  it("decodes path parameters and passes them to the handler", async () => {
    const { send } = await openApi({
      routes: [
        defineRoute({
          ...route(() => json(1)),
          path: "/x/:name",
          handle: ({ params, context }) => json([params["name"], context.params["name"]]),
        }),
      ],
    });
    expect(await (await send("GET", "/x/a%20b%2Fc")).json()).toEqual(["a b/c", "a b/c"]);
    expect((await send("GET", "/x/%zz")).status).toBe(200);
  });

  it("says at its root where its reference is", async () => {
    const { send } = await openApi({ routes });
    expect(await (await send("GET", "/")).json()).toEqual({
      title: "Test",
      version: "1.0.0",
      documentation: "/docs",
      openapi: "/openapi.json",
    });
  });
});
