import { describe, expect, it } from "vitest";
import { definedLists } from "../../src/add/defined-lists.ts";

const nothing: readonly unknown[] = [];

describe("definedLists", () => {
  it.each([
    ["double quotes", 'defineResource({ path: "/notes", schema })'],
    ["single quotes, another order", "defineResource({ schema, path:'/notes' })"],
    ["a template", "defineResource({ path: `/notes`, schema: z.object({ path: z.string() }) })"],
    ["a quoted key", 'defineResource({ schema, "path" : "/notes" })'],
    ["a constant", "const at = '/notes' as const; export const x = define({ path: at, schema });"],
    ["a shorthand", "const path = '/notes'; export const x = define({ path, schema });"],
    ["joined texts", "const root = '/no'; define({ path: root + 'tes', schema })"],
    ["a template with holes", "const root = 'no'; define({ path: `/${root}tes`, schema })"],
    [
      "an options object",
      "const options = { path: '/notes', schema } satisfies O; define(options)",
    ],
    ["a route that lists", "defineRoute({ method: 'GET', path: '/notes', access: 'public' })"],
    ["a route that creates", "defineRoute({ path: '/notes', method: `POST` })"],
    ["a list of routes", "export const routes = [defineRoute({ path: '/notes', method: 'POST' })]"],
  ])("finds a path in %s", (_, source) => {
    expect(definedLists(source).map(({ path }) => path)).toEqual(["/notes"]);
  });

  it("returns the name of a resource and none for a route", () => {
    expect(
      definedLists(`define({ name: 'note', path: "/notes", schema });
        route({ name: 'x', path: "/all", method: "GET" })`),
    ).toEqual([
      { name: "note", path: "/notes" },
      { name: undefined, path: "/all" },
    ]);
  });

  it.each([
    ["a comment", '// define({ path: "/notes", schema })'],
    ["a text", "const help = 'define({ path: \"/notes\", schema })'"],
    ["a route that does neither", 'route({ path: "/notes", method: "DELETE" })'],
    ["something else with a path", 'open({ path: "/notes" })'],
    ["what is no TypeScript", 'define({ path: "/notes", schema'],
    ["an empty module", ""],
  ])("finds nothing in %s", (_, source) => {
    expect(definedLists(source)).toEqual(nothing);
  });

  it.each([
    ["a call", "define({ path: pathOf('notes'), schema })"],
    ["an import", 'import { path } from "./path.ts"; define({ path, schema })'],
    ["a constant of itself", "const path = path + '/notes'; define({ path, schema })"],
    ["constants of each other", "const a = b; const b = a; define({ path: a, schema })"],
  ])("knows no path that follows from %s", (_, source) => {
    expect(definedLists(source)).toEqual([{ path: undefined, name: undefined }]);
  });
});
