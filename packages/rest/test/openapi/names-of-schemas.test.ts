import { describe, expect, it } from "vitest";
import { openStore } from "@fetchwork/documents";
import { z } from "zod";
import { createApi, defineRoute, type Route } from "../../src/index.ts";
import { named } from "../../src/named-schema.ts";
import { areNamesUnique } from "../../src/openapi/names-of-schemas.ts";
import type { JsonSchema } from "../../src/schema.ts";

function showing(operation: string, schema: JsonSchema): Route {
  return defineRoute({
    method: "GET",
    path: `/${operation}`,
    operation,
    summary: "Show one",
    tag: "shapes",
    access: "public",
    responses: { 200: { description: "One", schema } },
    handle: () => new Response(),
  });
}

const point = named("Point", { type: "object", properties: { x: { type: "number" } } });
const line = named("Point", { type: "object", properties: { y: { type: "number" } } });
const info = { title: "Shapes", version: "1.0.0" };

describe("areNamesUnique", () => {
  it.each([
    ["one object that is used twice", [point, point], true],
    ["equal objects", [point, named("Point", { ...point })], true],
    ["one name for two", [point, line], false],
    ["one name for two that are parts", [{ items: point }, { properties: { a: [line] } }], false],
    ["a body that is called as a schema", [named("DrawBody", {}), point], false],
    ["equal objects whose parts have other names", [wrapped("A"), wrapped("B")], false],
    ["a schema that refers to others", [{ $ref: "#" }, point], false],
    ["definitions of parts", [{ $defs: { A: {} } }, point], false],
  ] as const)("looks at %s", (_, [first, second], expected) => {
    const body = defineRoute({
      method: "POST",
      path: "/drawings",
      operation: "draw",
      summary: "Draw",
      tag: "shapes",
      access: "public",
      body: z.object({ x: z.number() }),
      responses: {},
      handle: () => new Response(),
    });
    const routes = [showing("first", first), body, showing("second", second)];
    expect(areNamesUnique(routes)).toBe(expected);
  });
});

describe("createApi", () => {
  it("refuses two schemas of one name, before anybody asks for the description", async () => {
    await using store = await openStore("sqlite::memory:", { collections: [] });
    const routes = [showing("first", point), showing("second", line)];
    const message = "two different schemas have the name Point";
    expect(() => createApi({ ...info, store, routes })).toThrow(message);
  });

  it("refuses an answer that cannot be described", async () => {
    await using store = await openStore("sqlite::memory:", { collections: [] });
    const route = defineRoute({
      method: "GET",
      path: "/dates",
      operation: "date",
      summary: "Show a date",
      tag: "dates",
      access: "public",
      response: z.object({ at: z.date() }),
      responses: { 200: { description: "A date" } },
      handle: () => new Response(),
    });
    expect(() => createApi({ ...info, store, routes: [route] })).toThrow("does not describe");
  });

  it("describes itself once", async () => {
    await using store = await openStore("sqlite::memory:", { collections: [] });
    const api = createApi({ ...info, store, routes: [showing("first", point)] });
    expect(api.openApi).toBe(api.openApi);
    expect(api.openApi.components).toMatchObject({ schemas: { Point: { type: "object" } } });
  });
});

function wrapped(name: string): JsonSchema {
  return named("Wrapped", { items: named(name, { type: "string" }) });
}
