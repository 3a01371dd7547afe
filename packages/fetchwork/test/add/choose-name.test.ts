import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { chooseName } from "../../src/add/choose-name.ts";
import { singularOf } from "../../src/add/resource-names.ts";

/** Chooses a name on a terminal on which somebody presses a key. */
async function choose(
  given: string,
  key: string,
): Promise<{ readonly name: string; readonly shown: string }> {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { columns: 120, rows: 40 });
  let shown = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    // The question is drawn whole before it reads.
    if (shown === "") setImmediate(() => input.write(key));
    shown += text;
  });
  const { signal } = new AbortController();
  return { name: await chooseName(given, { input, output, signal }), shown };
}

describe("chooseName", () => {
  it("asks on a terminal whether the singular is meant", async () => {
    const { name, shown } = await choose("articles", "\r");
    expect(name).toBe("article");
    expect(shown).toContain("Use article, with the path /articles?");
  });

  it("keeps the plural for no, and ends for Ctrl-C", async () => {
    expect((await choose("articles", "n")).name).toBe("articles");
    await expect(choose("articles", "\u0003")).rejects.toThrow("interrupted: nothing was written");
  });

  it("asks nothing about a singular", async () => {
    const { signal } = new AbortController();
    expect(await chooseName("article", { input: undefined, signal })).toBe("article");
  });
});

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
