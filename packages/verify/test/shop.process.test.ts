import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Resource } from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import { expect, it, onTestFinished } from "vitest";
import { allCodeBlocks } from "../../../scripts/markdown.ts";
import { invariant, verifyService } from "../src/index.ts";

const root = join(import.meta.dirname, "../../..");
const command = join(root, "packages/fetchwork/src/main.ts");

it("verifyService() finds nothing in the shop of the tutorial", { timeout: 240_000 }, async () => {
  const { app, module, product } = await makeShop();
  const inStock = invariant("stock is not negative", product, ({ stock }) => Number(stock) >= 0);
  const started = performance.now();
  const options = { invariants: [inStock], module, scale: 10_000 };
  const { findings, skipped } = await verifyService(app, options);
  expect({ findings, skipped }).toEqual({ findings: [], skipped: [] });
  expect(performance.now() - started).toBeLessThan(60_000);
});

/** The project of the tutorial, made by its commands and files. */
async function makeShop(): Promise<{
  readonly app: Service;
  readonly module: string;
  readonly product: Resource;
}> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "verify-shop-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const project = join(folder, "marketplace");
  const markdown = await readFile(join(root, "docs/tutorial-shop.md"), "utf8");
  for (const { language, text } of allCodeBlocks(markdown)) {
    const [, file] = /^\/\/ (src\/\S+)\n/.exec(text) ?? [];
    if (file !== undefined) {
      await mkdir(dirname(join(project, file)), { recursive: true });
      await writeFile(join(project, file), text);
    }
    if (language !== "sh") continue;
    for (const [, name, rest = ""] of text.matchAll(/^npx fetchwork (new|add) (.+)$/gm)) {
      const words = rest.split(" ").map((word) => word.replaceAll("'", ""));
      if (name === "add") await fetchwork(["add", ...words], project);
      else
        await fetchwork(
          ["new", project, ...words.slice(1), "--skip-git", "--skip-install"],
          folder,
        );
    }
    await symlink(join(root, "node_modules"), join(project, "node_modules")).catch(() => undefined);
  }
  const module = join(project, "src/app.ts");
  const { app } = (await import(module)) as { readonly app: Service };
  const product = app.resources.find(({ name }) => name === "product");
  if (product === undefined) throw new Error("the shop has products");
  return { app, module, product };
}

async function fetchwork(args: readonly string[], cwd: string): Promise<void> {
  const run = ["--conditions=@fetchwork/source", command, ...args];
  await promisify(execFile)(process.execPath, run, { cwd });
}
