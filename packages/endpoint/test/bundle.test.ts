import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const index = join(import.meta.dirname, "../src/index.ts");

/** What a bundler makes of a file that exports some of the package. */
async function bundle(names: string, format: "es" | "iife"): Promise<string> {
  const entry = "virtual:entry";
  const build = await rolldown({
    input: entry,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export ${names} from ${JSON.stringify(index)}` : null),
      },
    ],
  });
  const options = { format, name: "api", minify: true, comments: false } as const;
  const { output } = await build.generate(options);
  await build.close();
  return output[0].code;
}

it("The package is smaller than 4.5 KiB, as a builder and as a whole", async () => {
  expect(gzipSync(await bundle("{ endpoint }", "es"), { level: 9 }).length).toBeLessThan(4608);
  expect(brotliCompressSync(await bundle("*", "es")).length).toBeLessThan(4608);
});

it("The package runs with web standards only", async () => {
  const context = createContext({ Request, Headers, URL });
  runInContext(await bundle("*", "iife"), context);
  const run = (code: string): unknown =>
    JSON.parse(String(runInContext(`JSON.stringify(${code})`, context)));
  expect(run("typeof process + typeof require + typeof Buffer")).toBe(
    "undefinedundefinedundefined",
  );
  expect(run('api.endpoint("POST /x/{a}", { a: "é", b: { c: 1 } })')).toMatchObject({
    url: "{base_url}/x/%C3%A9",
    body: { b: { c: 1 } },
  });
  expect(run('api.expand("{?a*}", { a: { b: "c" } })')).toBe("?b=c");
  expect(run('api.toRequest(api.endpoint("https://h.example/x")).url')).toBe("https://h.example/x");
  expect(run('(() => { try { api.expand("{", {}) } catch (e) { return e.code } })()')).toBe(
    "ERR_ENDPOINT_TEMPLATE",
  );
});
