import { describe, expect, it } from "vitest";
import { singularOf } from "../../src/add/resource-names.ts";

describe("singularOf", () => {
  it.each([
    ["articles", "article"],
    ["blogPosts", "blogPost"],
    ["blog-posts", "blog-post"],
    ["categories", "category"],
    ["movies", "movie"],
    ["boxes", "box"],
    ["branches", "branch"],
    ["addresses", "address"],
    ["houses", "house"],
    ["keys", "key"],
    ["photos", "photo"],
  ])("returns for %s the singular %s", (plural, singular) => {
    expect(singularOf(plural)).toBe(singular);
  });

  it.each(["article", "address", "status", "analysis", "news", "series", "lens", "canvas", "s"])(
    "takes %s for a singular",
    (name) => {
      expect(singularOf(name)).toBeUndefined();
    },
  );
});
