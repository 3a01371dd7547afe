import { describe, expect, it } from "vitest";
import { cursorLinks, pageLinks } from "../../src/operations/page-links.ts";

function links(query: string, page: number, total: number): Record<string, string> {
  const header = pageLinks("/articles", new URLSearchParams(query), { page, limit: 10, total });
  return Object.fromEntries(
    header.split(", ").map((link) => {
      const [, target = "", relation = ""] = /^<([^>]*)>; rel="(\w+)"$/.exec(link) ?? [];
      return [relation, target];
    }),
  );
}

describe("pageLinks", () => {
  it("never repeats the access token", () => {
    expect(pageLinks("/a", new URLSearchParams("access_token=s3cret"), at(1, 0))).not.toContain(
      "s3cret",
    );
  });

  it("links first and last only for a single page", () => {
    expect(links("", 1, 3)).toEqual({
      first: "/articles?page=1&limit=10",
      last: "/articles?page=1&limit=10",
    });
  });

  it("links all four in the middle and keeps the other parameters", () => {
    expect(links("q=a%26b&page=2", 2, 25)).toEqual({
      first: "/articles?q=a%26b&page=1&limit=10",
      prev: "/articles?q=a%26b&page=1&limit=10",
      next: "/articles?q=a%26b&page=3&limit=10",
      last: "/articles?q=a%26b&page=3&limit=10",
    });
  });

  it("leads back from beyond the end", () => {
    expect(links("", 9, 25)["prev"]).toBe("/articles?page=3&limit=10");
  });

  it.each([
    [1, true, ["first", "next"]],
    [2, true, ["first", "prev", "next"]],
    [3, false, ["first", "prev"]],
  ])("knows no last page of what was not counted: page %i", (page, hasNext, relations) => {
    const parameters = new URLSearchParams();
    const header = pageLinks("/a", parameters, { page, limit: 10, total: undefined, hasNext });
    expect([...header.matchAll(/rel="(\w+)"/g)].map(([, relation]) => relation)).toEqual(relations);
  });

  it("cannot be broken out of by a parameter", () => {
    const header = pageLinks(
      "/a",
      new URLSearchParams([["q", '>; rel="next", <//evil\r\n']]),
      at(1, 0),
    );
    expect(header).not.toMatch(/[\r\n]/);
    expect(header.match(/</g)).toHaveLength(2);
  });
});

describe("cursorLinks", () => {
  it("leads to the first page, and to the next as long as there is one", () => {
    const parameters = new URLSearchParams("after=old&limit=5&q=x");
    expect(cursorLinks("/a", parameters, { limit: 5, next: undefined })).toBe(
      '</a?q=x&after=&limit=5>; rel="first"',
    );
    expect(cursorLinks("/a", parameters, { limit: 5, next: "new" })).toBe(
      '</a?q=x&after=&limit=5>; rel="first", </a?q=x&after=new&limit=5>; rel="next"',
    );
  });

  it("never repeats the access token, and cannot be broken out of", () => {
    const parameters = new URLSearchParams([
      ["access_token", "s3cret"],
      ["q", '>; rel="x", <'],
    ]);
    const header = cursorLinks("/a", parameters, { limit: 5, next: ">, <x>" });
    expect(header).not.toContain("s3cret");
    expect(header.match(/</g)).toHaveLength(2);
  });
});

function at(page: number, total: number): { page: number; limit: number; total: number } {
  return { page, limit: 10, total };
}
