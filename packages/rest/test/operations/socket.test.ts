import { request } from "node:http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createApi } from "../../src/http/api.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { memoryStore, noAccounts } from "../api-client.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string(),
    stars: z.int().default(0),
    role: z.string().default("user"),
  }),
  access: { list: "public", show: "public", create: "public", remove: "public" },
  filter: ["stars", "text"],
  fields: { role: { write: "nobody" } },
});

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** Sends a path as it is, which `fetch` would encode first. */
async function openNotes() {
  const store = await memoryStore();
  const routes = resourceRoutes(note, createResourceController(note));
  const info = { title: "Notes", version: "1.0.0" };
  const { handler } = createApi({ ...info, store, routes, authentication: noAccounts() });
  const server = await serve(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const { hostname, port } = new URL(server.url);
  return (path: string, { method = "GET", headers = {}, body }: Sent = {}) =>
    new Promise<{ status: number | undefined; etag: string | undefined; json: unknown }>(
      (resolve, reject) => {
        const sent = request({ hostname, port, path, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("end", () => {
            const text = Buffer.concat(chunks).toString();
            const json: unknown = text === "" ? undefined : JSON.parse(text);
            resolve({ status: answer.statusCode, etag: answer.headers.etag, json });
          });
        });
        sent.on("error", reject);
        sent.end(body);
      },
    );
}

const form = { "content-type": "application/x-www-form-urlencoded" };

describe("a resource over a socket", () => {
  it.each([
    ["without a length", {}],
    ["of the length 0", { "content-length": "0" }],
    ["in no chunks", { "transfer-encoding": "chunked" }],
  ])("takes an empty body with a JSON content type for none: %s", async (_what, more) => {
    const send = await openNotes();
    const headers = { "content-type": "application/json", ...more };
    expect((await send("/notes/none", { method: "DELETE", headers })).status).toBe(404);
    const created = await send("/notes", { method: "POST", headers });
    expect(created.json).toMatchObject({ status: 400, param: "text", name: "required" });
  });

  it("is not found under U+0000, and answers 400 to it", async () => {
    const send = await openNotes();
    expect((await send("/notes/%00")).status).toBe(400);
    expect((await send("/notes/%00", { method: "DELETE" })).status).toBe(400);
    expect((await send("/%00")).status).toBe(400);
  });

  it("is filtered with brackets as they are and percent-encoded", async () => {
    const send = await openNotes();
    for (const stars of [1, 2, 3]) {
      await send("/notes", { method: "POST", headers: form, body: `text=a&stars=${stars}` });
    }
    const raw = await send("/notes?stars[gte]=2&stars[lt]=3");
    expect(raw.json).toMatchObject([{ stars: 2 }]);
    expect((await send("/notes?stars%5Bgte%5D=2&stars%5Blt%5D=3")).json).toEqual(raw.json);
    const again = { headers: { "if-none-match": raw.etag ?? "" } };
    expect((await send("/notes?stars[gte]=2&stars[lt]=3", again)).status).toBe(304);
  });

  it("takes no field from brackets, repetition or names of the prototype in a form", async () => {
    const send = await openNotes();
    for (const name of ["role[]", "role[0]", "__proto__[role]"]) {
      const body = `text=a&${name}=admin`;
      const refused = await send("/notes", { method: "POST", headers: form, body });
      expect(refused).toMatchObject({ status: 400, json: { param: name } });
    }
    const body = "text=a&role=admin&id=x";
    const created = await send("/notes", { method: "POST", headers: form, body });
    expect(created).toMatchObject({ status: 201, json: { text: "a", role: "user" } });
    expect(created.json).not.toMatchObject({ id: "x" });
    const twice = await send("/notes", { method: "POST", headers: form, body: "text=a&text=b" });
    expect(twice).toMatchObject({ status: 400, json: { param: "text", name: "once" } });
  });

  it("refuses bytes that are not UTF-8, and stores nothing", async () => {
    const send = await openNotes();
    const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const headers = { "content-type": "application/json" };
    for (const framing of [
      { "content-length": String(body.length) },
      { "transfer-encoding": "chunked" },
    ]) {
      const refused = await send("/notes", {
        method: "POST",
        headers: { ...headers, ...framing },
        body,
      });
      expect(refused).toMatchObject({
        status: 400,
        json: { detail: "the body is not valid UTF-8" },
      });
    }
    expect((await send("/notes")).json).toEqual([]);
  });
});
