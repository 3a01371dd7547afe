import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blogFiles } from "../scripts/blog-files.ts";

const blog = join(import.meta.dirname, "../examples/blog");

/**
 * What the blog has in addition: tests that need the repository or are about this blog, and what
 * running it leaves.
 */
const own = [/^test\/[^/]+\.ts$/, /^\.env$/, /^(?:node_modules|data|docs|coverage)\//];

const made = await blogFiles();

describe("examples/blog", () => {
  it.each([...made.keys()])(
    "has %s as `fetchwork new` and `fetchwork add article` write it",
    (file) => {
      // What differs: `npm run blog` writes the file again.
      expect(readFileSync(join(blog, file), "utf8")).toBe(made.get(file));
    },
  );

  it("has no other files, except its own tests", () => {
    const files = globSync("{*,.*,{src,test,scripts}/**/*}", { cwd: blog, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(blog.length + 1));
    expect(files.length).toBeGreaterThan(made.size);
    const stray = files.filter((file) => !made.has(file) && !own.some((rule) => rule.test(file)));
    expect(stray).toEqual([]);
  });
});
