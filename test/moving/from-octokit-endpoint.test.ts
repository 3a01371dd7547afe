import { createEndpoint, githubPreset, type RequestOptions } from "@fetchwork/endpoint";
import { describe, expect, it } from "vitest";
import { importBlock } from "./page-block.ts";
// What `endpoint(route, options)` of @octokit/endpoint 11.0.5 returned, without its `user-agent`.
import record from "./records/octokit-endpoint.json" with { type: "json" };

interface Call {
  readonly name: string;
  readonly route: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly result: RequestOptions;
}

const calls = new Map((record as readonly Call[]).map((call) => [call.name, call]));

const headers = { "user-agent": null };
const api = createEndpoint({ vendor: githubPreset }).defaults({ headers });
const strict = createEndpoint({ vendor: githubPreset, onMissing: "throw" }).defaults({ headers });

function call(name: string): Call {
  return calls.get(name) ?? expect.fail(`no record of ${name}`);
}

describe("the calls of from-octokit-endpoint.md", () => {
  it.each([
    "a list with a query",
    "a body",
    "a search",
    "a path with slashes",
    "a media type",
    "a preview of GraphQL",
    "a missing variable",
  ])("have the result of @octokit/endpoint for %s", (name) => {
    const { route, options, result } = call(name);
    expect(api(route, options)).toEqual(result);
  });

  it.each([
    ["a missing variable", "ERR_ENDPOINT_MISSING", "https://api.github.com/repos/o"],
    ["dot segments", "ERR_ENDPOINT_PATH", "https://api.github.com/users/.."],
  ])("throw for %s, as the page says", (name, code, url) => {
    const { route, options, result } = call(name);
    expect(result.url).toBe(url);
    expect(() => strict(route, options)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ["a list in the query", "/labels?labels=a%2Cb", "/labels?labels=a,b"],
    ["null in the query", "/x?a=null", "/x"],
    ["a query template without its first variable", "/x?&b=1", "/x?b=1"],
    [
      "a query template with data",
      "/repos/o/r/releases/1/assets?name=a.zip&",
      "/repos/o/r/releases/1/assets?name=a.zip",
    ],
  ])("differ in the url for %s, as the page says", (name, there, here) => {
    const { route, options, result } = call(name);
    expect(result.url).toBe(`https://api.github.com${there}`);
    expect(api(route, options)).toEqual({ ...result, url: `https://api.github.com${here}` });
  });

  it.each(["PUT without parameters", "PATCH without parameters"])(
    "have no body for %s, where @octokit/endpoint has an empty text",
    (name) => {
      const { route, options, result } = call(name);
      const { body, ...rest } = result;
      expect(body).toBe("");
      expect(api(route, options)).toEqual(rest);
    },
  );

  it("throw for a line break in a header, as the page says", () => {
    const options = { headers: { "x-name": "a\r\nb: c" } };
    expect(() => api("GET /x", options)).toThrow(
      expect.objectContaining({ code: "ERR_ENDPOINT_HEADER" }),
    );
  });
});

describe("the code of from-octokit-endpoint.md", () => {
  it("builds the requests that it built before", async () => {
    const built = await importBlock<Record<string, RequestOptions>>(
      "from-octokit-endpoint.md",
      "ts",
    );
    const headers = { "user-agent": "my-app/1.0", authorization: "token some-token" };
    const json = { accept: "application/vnd.github.v3+json", ...headers };
    // What the code before the move built.
    expect({ ...built }).toEqual({
      list: {
        method: "GET",
        url: "https://api.github.com/repos/octo/hello/issues?state=open",
        headers: json,
      },
      create: {
        method: "POST",
        url: "https://api.github.com/repos/octo/hello/issues",
        headers: { ...json, "content-type": "application/json; charset=utf-8" },
        body: { title: "Bug", labels: ["a", "b"] },
      },
      raw: {
        method: "GET",
        url: "https://api.github.com/repos/octo/hello/contents/src/index.ts",
        headers: { ...json, accept: "application/vnd.github.v3.raw" },
      },
    });
  });
});
