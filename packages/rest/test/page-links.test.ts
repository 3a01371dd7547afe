import { describe, expect, it } from "vitest";
import { pageLinks } from "../src/page-links.ts";

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

  it("gives first and last only for a single page", () => {
    expect(links("", 1, 3)).toEqual({
      first: "/articles?page=1&limit=10",
      last: "/articles?page=1&limit=10",
    });
  });

  it("gives all four in the middle and keeps the other parameters", () => {
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

function at(page: number, total: number): { page: number; limit: number; total: number } {
  return { page, limit: 10, total };
}
