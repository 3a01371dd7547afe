import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Imports an entry in a process of Node, and prints the files of `packages` that it loaded. */
const script = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      if (url.includes("/packages/")) loaded.push(url.split("/packages/")[1]);
      return next(url, context);
    },
  });
  await import("@fetchwork/middleware/cors");
  console.log(JSON.stringify(loaded));
`;

it("The entry of one middleware loads few modules", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "--eval", script],
    { cwd: fileURLToPath(new URL("..", import.meta.url)) },
  );
  const loaded = JSON.parse(stdout) as readonly string[];
  expect(loaded).toContain("middleware/src/content/cors.ts");
  expect(loaded).not.toContain("http/src/index.ts");
  expect(loaded).not.toContain("kit/src/index.ts");
  expect(loaded.length).toBeLessThanOrEqual(15);
});
