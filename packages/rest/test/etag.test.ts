import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  contentTag,
  etagOf,
  jsonTag,
  noneMatchHolds,
  requirePreconditions,
  taggedJson,
} from "../src/etag.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineRoute } from "../src/plan/route.ts";
import { Problem } from "../src/problem.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import { openApi } from "./api-client.ts";
import { openAsUsers } from "./as-users.ts";

function check(method: string, headers: Record<string, string>): () => void {
  return () => requirePreconditions(new Request("http://localhost/", { method, headers }), '"3"');
}

describe("the tag of a document", () => {
  const id = "019ac0b5-6c00-7000-8000-000000000000";
  const createdAt = new Date(0x019ac0b56c00).toISOString();

  it("is the version of a document whose id says when it was added", () => {
    expect(etagOf({ id, version: 3, createdAt })).toBe('"3"');
    expect(etagOf({ id, version: 3, createdAt }, "user")).toBe('"3-user"');
    expect(etagOf(3)).toBe('"3"');
  });

  it("is another one for each document that has the same id", () => {
    const later = new Date(0x019ac0b56c01).toISOString();
    const latest = new Date(0x019ac0b56c02).toISOString();
    const tags = [createdAt, later, latest].map((at) => etagOf({ id, version: 1, createdAt: at }));
    tags.push(
      ...tags
        .map((_tag, day) => new Date(day * 86_400_000).toISOString())
        .map((at) => etagOf({ id: "settings", version: 1, createdAt: at })),
    );
    expect(new Set(tags).size).toBe(6);
  });
});

describe("requirePreconditions", () => {
  it.each(['"2"', 'W/"3"', "3", '"3', '"33"', "", '"2", W/"3"', '"1,"3'])(
    "refuses If-Match: %s",
    (tags) => {
      expect(check("PUT", { "if-match": tags })).toThrow(Problem);
      expect(check("GET", { "if-match": tags })).toThrow(Problem);
    },
  );

  it.each(['"3"', "*", " * ", '"1", "3"', '"a,b","3"', 'W/"1" ,"3"'])(
    "accepts If-Match: %s",
    (tags) => {
      expect(check("PUT", { "if-match": tags })).not.toThrow();
    },
  );

  it.each(['"3"', 'W/"3"', "*"])("refuses a change with If-None-Match: %s", (tags) => {
    expect(check("DELETE", { "if-none-match": tags })).toThrow(Problem);
    expect(check("GET", { "if-none-match": tags })).not.toThrow();
    expect(check("PUT", { "if-none-match": '"2"' })).not.toThrow();
  });
});

describe("etagOf", () => {
  it("tells variants of one version apart", () => {
    expect([etagOf(3), etagOf(3, "public")]).toEqual(['"3"', '"3-public"']);
  });
});

describe("noneMatchHolds", () => {
  it.each([
    [null, false],
    ['"2"', false],
    ["3", false],
    ['"3"', true],
    ['W/"3"', true],
    ['"a,b", W/"3"', true],
    ["*", true],
  ])("answers for %s with %s", (header, expected) => {
    expect(noneMatchHolds(header, '"3"')).toBe(expected);
  });
});

describe("contentTag", () => {
  it("is a strong tag that differs with the content, and holds nothing of it", () => {
    expect(contentTag("[1]")).toMatch(/^"[\w-]{27}"$/);
    expect(contentTag("[1]")).toBe(contentTag("[1]"));
    expect(contentTag("[1]")).not.toBe(contentTag("[2]"));
  });
});

describe("taggedJson", () => {
  async function openHook() {
    let hook = { url: "https://a.example" };
    const about = { path: "/hook", tag: "hook", access: "public", conditional: true } as const;
    return openApi({
      routes: [
        defineRoute({
          ...about,
          method: "GET",
          operation: "showHook",
          summary: "Shows the hook",
          responses: {},
          handle: ({ request }) => taggedJson(request, hook),
        }),
        defineRoute({
          ...about,
          method: "PATCH",
          operation: "patchHook",
          summary: "Changes the hook",
          responses: {},
          handle({ request }) {
            requirePreconditions(request, jsonTag(hook));
            hook = { url: "https://b.example" };
            return taggedJson(request, hook);
          },
        }),
      ],
    });
  }

  it("tags the value, so that If-Match lets a change pass once", async () => {
    const { send } = await openHook();
    const shown = await send("GET", "/hook");
    const etag = shown.headers.get("etag") ?? "";
    expect(await shown.json()).toEqual({ url: "https://a.example" });
    const headers = { "if-match": etag };
    const changed = await send("PATCH", "/hook", { headers });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
    expect((await send("PATCH", "/hook", { headers })).status).toBe(412);
  });

  it("responds with 304 to a GET of what the client has, and with 412 to one of another value", async () => {
    const { send } = await openHook();
    const etag = (await send("GET", "/hook")).headers.get("etag") ?? "";
    const same = await send("GET", "/hook", { headers: { "if-none-match": etag } });
    expect([same.status, same.headers.get("etag")]).toEqual([304, etag]);
    const other = await send("GET", "/hook", { headers: { "if-match": '"999"' } });
    expect(other.status).toBe(412);
  });
});

describe("the tag of a document of which some fields are shown", () => {
  it("is that of the document, so that a change of what was shown is made once", async () => {
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string(), stars: z.int().default(0) }),
      access: { list: "public", show: "public", create: "public", update: "public" },
    });
    const { as } = await openAsUsers(resourceRoutes(note, createResourceController(note)));
    const { json } = await as("", "POST", "/notes", { text: "a" });
    const part = `/notes/${json.id}?fields=text`;
    const shown = await as("", "GET", part);
    const etag = shown.headers.get("etag") ?? "";
    expect(shown.json).toEqual({ id: json.id, text: "a" });
    const same = await as("", "GET", part, undefined, { "if-none-match": etag });
    expect(same.status).toBe(304);
    const change = ["", "PATCH", `/notes/${json.id}`, { text: "b" }, { "if-match": etag }] as const;
    expect((await as(...change)).status).toBe(200);
    expect((await as(...change)).status).toBe(412);
    const after = await as("", "GET", part, undefined, { "if-none-match": etag });
    expect([after.status, after.json]).toEqual([200, { id: json.id, text: "b" }]);
  });
});
