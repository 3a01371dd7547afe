import { request } from "node:http";
import { serve } from "@fetchwork/http/serve";
import { crossOriginProtection } from "@fetchwork/middleware";
import { json, wrap } from "@fetchwork/http";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/create-client.ts";
import { createApi } from "../../src/http/api.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute } from "../../src/plan/route.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { listParameter } from "../../src/resource/list-parameter.ts";
import { memoryStore } from "../api-client.ts";
import { withUsers } from "../resource-client.ts";

const person = defineResource({
  name: "person",
  path: "/people",
  schema: z.object({ name: z.string() }),
  access: { list: "public", show: "public", create: "public" },
});
const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string(),
    stars: z.int().default(0),
    salary: z.int().optional(),
    author: z.string().optional(),
  }),
  access: { list: "public", show: "public", create: "public", update: "public" },
  search: ["text"],
  filter: ["text", "stars", "salary"],
  sort: ["stars", "salary"],
  fields: { salary: { read: "user" }, updatedAt: { read: "user" } },
  relations: { author: { to: () => person } },
  list: {
    parameters: {
      least: listParameter({ schema: z.int(), where: (least) => ({ stars: { gte: least } }) }),
    },
  },
});
const diary = defineResource({
  name: "diary",
  path: "/diaries",
  schema: z.object({ text: z.string() }),
  access: { list: "user", show: "user", create: "user" },
  list: { shape: "rows" },
});
const echo = defineRoute({
  method: "QUERY",
  path: "/echo",
  operation: "echo",
  summary: "Echo a text",
  tag: "echo",
  access: "public",
  body: z.object({ text: z.string() }),
  response: z.object({ text: z.string() }),
  responses: { 200: { description: "The text" } },
  handle: ({ body }) => json({ text: body.text }),
});

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves notes on a socket; `send` sends a QUERY as `node:http` does. */
async function openNotes() {
  const store = await memoryStore();
  const authentication = withUsers();
  const routes = [
    ...resourceRoutes(note, createResourceController(note)),
    ...resourceRoutes(person),
    ...resourceRoutes(diary),
    echo,
  ] as const;
  const info = { title: "Notes", version: "1.0.0" };
  const api = createApi({ ...info, store, routes, authentication });
  const server = await serve(wrap(api.handler, crossOriginProtection()), {
    hostname: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const { hostname, port } = new URL(server.url);
  const client = createClient<typeof api>({ baseUrl: server.url });
  onTestFinished(() => client[Symbol.asyncDispose]());
  const send = (body: unknown, { method = "QUERY", path = "/notes", headers = {} }: Sent = {}) =>
    new Promise<{
      status: number | undefined;
      headers: Readonly<Record<string, string | string[] | undefined>>;
      json: any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
    }>((resolve, reject) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const sent = request(
        {
          hostname,
          port,
          path,
          method,
          headers: { "content-type": "application/json", ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const whole = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode,
              headers: response.headers,
              json: /^[[{]/.test(whole) ? JSON.parse(whole) : undefined,
            });
          });
        },
      );
      sent.on("error", reject);
      sent.end(text);
    });
  const bearer = async (id: string) => ({
    authorization: `Bearer ${await authentication.tokens.issue({ id, role: "user", passwordHash: "", sessionVersion: 1 })}`,
  });
  return { client, send, bearer, url: server.url };
}

async function withFive(opened: Awaited<ReturnType<typeof openNotes>>): Promise<void> {
  const { client } = opened;
  const { data: ann } = await client.people.create({ name: "Ann" });
  for (const [index, text] of ["tea", "green tea", "coffee", "cocoa", "water"].entries()) {
    await client.notes.create({ text, stars: index, salary: 10 - index, author: ann.id });
  }
}

describe("a QUERY that a list refuses", () => {
  it.each([
    ["a list", "[]", "the body must be a JSON object"],
    ["what is not JSON", "{", "the body is not valid JSON"],
    ["no content", "", "the body is not valid JSON"],
  ])("is a 400 for %s", async (_, body, message) => {
    const { send } = await openNotes();
    expect(await send(body)).toMatchObject({ status: 400, json: { message } });
  });

  it("is a 415 with Accept-Query for another media type", async () => {
    const { send } = await openNotes();
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]) {
      const { headers, status } = await send("q=tea", { headers: { "content-type": type } });
      expect([status, headers["accept-query"]]).toEqual([415, "application/json"]);
    }
  });

  it("is a 400 without Content-Type", async () => {
    const { url } = await openNotes();
    const body = new TextEncoder().encode("{}");
    const response = await fetch(new URL("/notes", url), { method: "QUERY", body });
    expect([response.status, response.headers.get("accept-query")]).toEqual([
      400,
      "application/json",
    ]);
  });

  it("is a 413 for a body beyond the limit", async () => {
    const { send } = await openNotes();
    expect(await send({ q: "a".repeat(102_400) })).toMatchObject({ status: 413 });
  });

  it.each([
    [{ filter: {} }, "filter", "unknown"],
    [{ limt: 3 }, "limt", "unknown"],
    [{ stars: 3 }, "stars", "unknown"],
    [{ "stars[gte]": 3 }, "stars[gte]", "unknown"],
    [{ constructor: 1 }, "constructor", "unknown"],
    [{ trash: "only" }, "trash", "unknown"],
    [{ page: "2" }, "page", "type"],
    [{ page: null }, "page", "type"],
    [{ page: 1.5 }, "page", "type"],
    [{ page: 0 }, "page", "min"],
    [{ limit: 101 }, "limit", "max"],
    [{ limit: [1] }, "limit", "type"],
    [{ q: 1 }, "q", "type"],
    [{ q: { toString: 1 } }, "q", "type"],
    [{ q: "a".repeat(201) }, "q", "maxlength"],
    [{ sort: ["text"] }, "sort", "enum"],
    [{ sort: [1] }, "sort", "type"],
    [{ sort: ["stars,id"] }, "sort", "invalid"],
    [{ sort: [[["stars"]]] }, "sort", "type"],
    [{ fields: { text: 1 } }, "fields", "type"],
    [{ fields: ["secret"] }, "fields", "enum"],
    [{ populate: ["owner"] }, "populate", "enum"],
    [{ after: "x" }, "after", "invalid"],
    [{ after: "", page: 1 }, "page", "mixed"],
    [{ least: "3" }, "least", "type"],
    [{ least: {} }, "least", "type"],
    [{ where: '{"stars":3}' }, "where", "type"],
    [{ where: [] }, "where", "type"],
    [{ where: {} }, "where", "invalid"],
    [{ where: { title: "a" } }, "where.title", "enum"],
    [{ where: { stars: "3" } }, "where.stars", "type"],
    [{ where: { stars: { eq: { toString: 1, valueOf: 1 } } } }, "where.stars", "type"],
    [{ where: { or: [{ stars: 1 }, { text: { gt: 1 } }] } }, "where.or.1.text", "maxlength"],
    [{ where: { not: { and: [{ stars: { like: 1 } }] } } }, "where.not.and.0.stars", "enum"],
  ])("is a 400 that names the member: %j", async (body, param, name) => {
    const { send } = await openNotes();
    expect(await send(body)).toMatchObject({ status: 400, json: { param, name } });
  });

  it("names the member that was meant", async () => {
    const { send } = await openNotes();
    const { json: problem } = await send({ limt: 3, feilds: [] });
    expect(problem.errors).toHaveLength(2);
    expect(problem.message).toContain('did you mean "limit"?');
  });

  it("is a 400 for what is nested without end, and for more conditions than a GET takes", async () => {
    const { send } = await openNotes();
    const deep = `${'{"not":'.repeat(12_000)}{}${"}".repeat(12_000)}`;
    expect(await send(`{"where":${deep}}`)).toMatchObject({ status: 400 });
    const list = `${"[".repeat(40_000)}${"]".repeat(40_000)}`;
    expect(await send(`{"where":{"stars":{"in":${list}}}}`)).toMatchObject({ status: 400 });
    expect(await send(`{"sort":${list}}`)).toMatchObject({ status: 400 });
    const or = Array.from({ length: 21 }, () => ({ stars: 1 }));
    expect(await send({ where: { or } })).toMatchObject({
      status: 400,
      json: { name: "maxlength" },
    });
    expect(await send('{"where":{"__proto__":{"stars":1}}}')).toMatchObject({ status: 400 });
  });

  it("is a 400 for parameters in the URL", async () => {
    const { send } = await openNotes();
    const found = await send({}, { path: "/notes?limit=1" });
    expect(found).toMatchObject({ status: 400, json: { param: "limit" } });
  });

  it("is a 400 for fields that its caller does not see", async () => {
    const opened = await openNotes();
    const { bearer, send } = opened;
    await withFive(opened);
    const where = { salary: { gte: 9 } };
    expect(await send({ where })).toMatchObject({ status: 400, json: { param: "where.salary" } });
    expect(await send({ sort: "salary" })).toMatchObject({ status: 400, json: { param: "sort" } });
    expect(await send({ fields: ["salary"] })).toMatchObject({ status: 400 });
    const headers = await bearer("ann");
    const seen = await send({ where, sort: ["salary"], fields: ["salary"] }, { headers });
    expect(seen.json).toMatchObject([{ salary: 9 }, { salary: 10 }]);
  });

  it("is a 401 where the list is not for everybody, and a 405 where there is no list", async () => {
    const { bearer, send } = await openNotes();
    expect(await send({}, { path: "/diaries" })).toMatchObject({ status: 401 });
    const allowed = await send({}, { path: "/diaries", headers: await bearer("ann") });
    expect(allowed).toMatchObject({ status: 200, json: { rows: [], count: 0 } });
    expect(allowed.headers["cache-control"]).toBe("private, no-cache");
    expect(await send({}, { path: "/notes/1" })).toMatchObject({ status: 405 });
  });
});

describe("a QUERY of a list", () => {
  it("finds what a GET with the same parameters finds", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const where = { or: [{ stars: { gte: 3 } }, { text: "tea" }] };
    const {
      headers,
      json: rows,
      status,
    } = await opened.send({ where, sort: ["-stars"], limit: 2 });
    const query = new URLSearchParams({
      where: JSON.stringify(where),
      sort: "-stars",
      limit: "2",
    });
    const got = await opened.send("", { method: "GET", path: `/notes?${query}` });
    expect(status).toBe(200);
    expect(rows).toEqual(got.json);
    expect(headers["x-total-count"]).toBe("3");
    expect(headers["accept-query"]).toBe("application/json");
    expect(headers["link"]).toBeUndefined();
    expect(got.headers["link"]).toBeDefined();
    const other = await opened.send({ q: "tea", least: 1, fields: "text" });
    expect(other.json).toEqual([{ id: expect.any(String), text: "green tea" }]);
    expect((await opened.send({ populate: ["author"] })).json[0].author).toMatchObject({
      name: "Ann",
    });
  });

  it("keeps what it shows of a populated list out of caches that do not tell callers apart", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const { headers } = await opened.send({ populate: "author" });
    expect(headers["vary"]).toContain("Authorization");
  });

  it("takes a filter that no URL has room for", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const some = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(90, "x"));
    const { json: rows, status } = await opened.send({
      where: { or: [{ text: { in: some } }, { text: "coffee" }] },
    });
    expect([status, rows.length]).toEqual([200, 1]);
  });

  it("is answered with 304 for the tag of the same query alone", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const { send } = opened;
    const body = { where: { stars: 0 } };
    const { headers } = await send(body);
    const tag = { "if-none-match": String(headers["etag"]) };
    const again = await send(body, { headers: tag });
    expect([again.status, again.headers["link"]]).toEqual([304, undefined]);
    expect((await send({ ...body, fields: ["text"] }, { headers: tag })).status).toBe(200);
    expect((await send({ where: { stars: 1 } }, { headers: tag })).status).toBe(200);
    expect((await send("", { method: "GET", headers: tag })).status).toBe(200);
  });

  it("is announced by GET, HEAD and OPTIONS", async () => {
    const { send } = await openNotes();
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      const { headers } = await send("", { method });
      expect([method, headers["accept-query"]]).toEqual([method, "application/json"]);
    }
    const { headers } = await send("", { method: "OPTIONS" });
    expect(headers["allow"]).toBe("GET, HEAD, QUERY, POST, OPTIONS");
    expect((await send("", { method: "GET", path: "/openapi.json" })).json).toMatchObject({
      openapi: "3.2.0",
      paths: { "/notes": { query: { operationId: "queryNotes" } } },
    });
  });

  it("passes as safe where changes from another origin are refused", async () => {
    const { send } = await openNotes();
    const headers = { "sec-fetch-site": "cross-site", origin: "https://other.example" };
    expect(await send({}, { headers })).toMatchObject({ status: 200 });
    expect((await send({ text: "a" }, { method: "POST", headers })).status).toBe(403);
  });

  it("names the next page by the member of its body, by page and by cursor", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const { send } = opened;
    expect((await send({ limit: 2 })).headers["x-next-page"]).toBe("page=2");
    expect((await send({ limit: 2, page: 3 })).headers["x-next-page"]).toBeUndefined();
    const first = await send({ limit: 2, after: "" });
    expect(first.headers["x-next-page"]).toMatch(/^after="[^"]+"$/);
  });
});

describe("client.notes.query()", () => {
  it("pages to the end with what each reply has as next", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const { client } = opened;
    for (const start of [{}, { after: "" }] as const) {
      const texts: (string | undefined)[] = [];
      const where = { stars: { gte: 1 } };
      let page = await client.notes.query({ ...start, where, sort: "stars", limit: 3 });
      for (;;) {
        texts.push(...page.data.map(({ text }) => text));
        if (!page.next) break;
        expect(page.next).toMatchObject({ where, limit: 3 });
        page = await client.notes.query(page.next);
      }
      expect(texts).toEqual(["green tea", "coffee", "cocoa", "water"]);
    }
  });

  it("knows its fields, and a 304 by its tag", async () => {
    const opened = await openNotes();
    await withFive(opened);
    const { client } = opened;
    const found = await client.notes.query({ where: { stars: 4 }, fields: ["text"] });
    const text: string | undefined = found.data[0]?.text;
    expect([text, found.total]).toEqual(["water", 1]);
    const options = { ifNoneMatch: found.etag ?? "" };
    const again = await client.notes.query({ where: { stars: 4 }, fields: ["text"] }, options);
    expect(again.status).toBe(304);
    // @ts-expect-error Single fields are filtered by `where`.
    await expect(client.notes.query({ stars: 4 })).rejects.toMatchObject({ status: 400 });
    // @ts-expect-error Lists do not filter by this.
    await expect(client.notes.query({ where: { author: "a" } })).rejects.toThrow("where");
  });

  it("calls a route of QUERY that defineRoute made", async () => {
    const { client } = await openNotes();
    expect((await client.echo({ body: { text: "a" } })).data).toEqual({ text: "a" });
  });
});
