import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import * as main from "../src/index.ts";

/** `[subpath, source file]` for each file that can be imported alone. */
const subpaths = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === "string" || subpath === "." || subpath === "./node"
    ? []
    : [[subpath, target["@fetchwork/source"]] as const],
);

/**
 * Largest bundle of one subpath, in bytes after minification and with what it imports of `http` and
 * `kit`.
 */
const maxBundle = 33_000;

/** The files of this package that a subpath loads, and the size of its bundle. */
async function bundleOf(source: string): Promise<{ files: readonly string[]; bytes: number }> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(`../${source}`, import.meta.url)),
    external: ["hash-wasm", "jose", /^node:/],
    resolve: { conditionNames: ["@fetchwork/source", "import", "default"] },
  });
  const { output } = await bundle.generate({ minify: true, codeSplitting: false });
  await bundle.close();
  return {
    files: output
      .flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))
      .flatMap((file) => file.split("/packages/middleware/src/")[1] ?? []),
    bytes: output.reduce((sum, chunk) => sum + (chunk.type === "chunk" ? chunk.code.length : 0), 0),
  };
}

describe("the subpaths of @fetchwork/middleware", () => {
  it("export together what the main entry exports, apart from wrap() of http", async () => {
    const names = new Set<string>(["wrap"]);
    for (const [, source] of subpaths) {
      // Adapters of frameworks on Node, which the main entry must not load.
      if (source.startsWith("./src/node/")) continue;
      const { href } = new URL(`../${source}`, import.meta.url);
      const module = (await import(/* @vite-ignore */ href)) as object;
      for (const name of Object.keys(module)) names.add(name);
    }
    expect([...names].toSorted()).toEqual(Object.keys(main).toSorted());
  });

  it("are named for their files", () => {
    for (const [subpath, source] of subpaths) {
      expect(source).toMatch(new RegExp(`/${subpath.slice(2)}\\.ts$`));
    }
  });

  it.each(subpaths)("%s is small when it is bundled alone", async (_subpath, source) => {
    const { bytes } = await bundleOf(source);
    expect(bytes).toBeLessThan(maxBundle);
  });

  it("./cors loads no other middleware", async () => {
    const { files } = await bundleOf("./src/content/cors.ts");
    const others = new Set(subpaths.map(([, source]) => source.slice("./src/".length)));
    others.delete("content/cors.ts");
    others.delete("errors.ts");
    expect(files.filter((file) => others.has(file))).toEqual([]);
  });
});
