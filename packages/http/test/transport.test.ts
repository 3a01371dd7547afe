import { join, relative } from "node:path";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

it("the package has a light subpath for packages that send: without undici, server and client", async () => {
  const folder = join(import.meta.dirname, "../src");
  const input = join(folder, "transport.ts");
  const bundle = await rolldown({ input, external: /^[^./]/, logLevel: "silent" });
  const { output } = await bundle.generate();
  const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  expect(modules.map((file) => relative(folder, file)).toSorted()).toEqual([
    "client/transport/exchange-watch.ts",
    "client/transport/system-code.ts",
    "transport.ts",
  ]);
  await bundle.close();
});
