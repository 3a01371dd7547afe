import { describe, expect, expectTypeOf, it } from "vitest";
import { endpoint, expand, type RequestOptions, createEndpoint } from "../src/index.ts";
import type { OptionalVariables, RequiredVariables } from "../src/route-variables.ts";

describe("the variables of a literal route", () => {
  it("the variables of a literal route are read from it", () => {
    expectTypeOf<RequiredVariables<"GET /orgs/{org}/repos">>().toEqualTypeOf<"org">();
    expectTypeOf<RequiredVariables<"GET /{a,b:3}/{+c*}{?d,e*}{/f}">>().toEqualTypeOf<
      "a" | "b" | "c"
    >();
    expectTypeOf<OptionalVariables<"GET /{a}{?d,e*}{/f}{#g}">>().toEqualTypeOf<
      "d" | "e" | "f" | "g"
    >();
    expectTypeOf<RequiredVariables<"GET /:owner/:repo_2/x:y">>().toEqualTypeOf<
      "owner" | "repo_2"
    >();
    expectTypeOf<RequiredVariables<"/:base...:head?x=:y">>().toEqualTypeOf<"base" | "head">();
    expectTypeOf<RequiredVariables<"GET https://u:pass@h:80/:id/{a}:cancel">>().toEqualTypeOf<
      "id" | "a"
    >();
    expectTypeOf<RequiredVariables<"GET /x">>().toEqualTypeOf<never>();
  });

  it("the type requires each variable of a literal route", () => {
    const route = "GET /orgs/{org}/:repo{?page}";
    expectTypeOf(endpoint(route, { org: "a", repo: 1 })).toEqualTypeOf<RequestOptions>();
    endpoint(route, { org: "a", repo: 1, page: 2, type: "any" });
    // @ts-expect-error: `repo` is missing
    expect(() => endpoint(route, { org: "a" })).toThrow(TypeError);
    // @ts-expect-error: all are missing
    expect(() => endpoint(route)).toThrow(TypeError);
    // @ts-expect-error: `org` may be undefined
    expect(() => endpoint(route, { org: undefined, repo: 1 })).toThrow(TypeError);
    // @ts-expect-error: a symbol has no text
    expect(() => endpoint(route, { org: Symbol("a"), repo: 1 })).toThrow(TypeError);
    // @ts-expect-error: a function has no text
    expect(() => endpoint(route, { org: "a", repo: 1, page: () => 1 })).toThrow(TypeError);
    // @ts-expect-error: `headers` is not text
    expect(() => endpoint(route, { org: "a", repo: 1, headers: "x" })).toThrow(TypeError);
  });

  it("the type requires each variable of a literal url", () => {
    endpoint({ method: "GET", url: "/{a}", a: 1 });
    // @ts-expect-error: `a` is missing
    expect(() => endpoint({ method: "GET", url: "/{a}" })).toThrow(TypeError);
    // @ts-expect-error: `url` is missing
    expect(() => endpoint({ method: "GET" })).toThrow(TypeError);
  });

  it("variables with a default are optional", () => {
    const builder = createEndpoint().defaults({ org: "a" }).defaults({ page: 1 });
    builder("GET /orgs/{org}");
    builder("GET /orgs/{org}/{repo}", { repo: "b" });
    // @ts-expect-error: `repo` is missing
    expect(() => builder("GET /orgs/{org}/{repo}")).toThrow(TypeError);
  });

  it("a compiled route has the variables of its route", () => {
    const route = endpoint.compile("GET /{a}");
    route({ a: 1 });
    // @ts-expect-error: `a` is missing
    expect(() => route()).toThrow(TypeError);
  });

  it("a route that is not a literal accepts any variables", () => {
    const route: string = "GET /x";
    endpoint(route);
    endpoint(route, { a: 1 });
  });
});

describe("the variables of a literal template", () => {
  it("the type of a literal template has its variables, and no others", () => {
    expand("{a}{?b*}", { a: 1, b: ["x"] });
    expand("{a}{?b*}", {});
    // @ts-expect-error: there is no `c`
    expand("{a}", { c: 1 });
    // @ts-expect-error: a list of lists has no text
    expect(() => expand("{a}", { a: [[1]] })).toThrow(TypeError);
  });
});
