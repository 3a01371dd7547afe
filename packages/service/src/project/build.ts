import { cp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { OutputChunk, OutputOptions } from "rolldown";
import { bundle } from "./bundle.ts";

/** The folder with what the page of the reference shows. */
export const assetFolder: string = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@fetchwork/rest/package.json")),
  "assets",
);

/** An import, because imports run before all else, in their order. */
const mode = `import "data:text/javascript,process.env.NODE_ENV||='production'";`;

/**
 * Bundles `src/index.ts` of a project into its folder `dist`, which is emptied before: `index.js`,
 * chunks that it loads when they are needed, workers, source maps and `assets`. It runs next to a
 * `package.json`, without `node_modules`; where `NODE_ENV` is not set, in production.
 */
export async function build(project: string): Promise<void> {
  const folder = path.join(project, "dist");
  const chunks: OutputChunk[] = [];
  await add(path.join(project, "src/index.ts"), { banner: ({ isEntry }) => (isEntry ? mode : "") });
  await rm(folder, { recursive: true, force: true });
  await cp(assetFolder, path.join(folder, "assets"), { recursive: true });
  for (const { code, fileName, map } of chunks) {
    await writeFile(path.join(folder, fileName), code);
    await writeFile(path.join(folder, `${fileName}.map`), map?.toString() ?? "");
  }
  console.log(`The bundle is ${path.relative(process.cwd(), path.join(folder, "index.js"))}`);

  async function add(module: string, options: OutputOptions): Promise<string> {
    const asset = 'readFileSync(new URL("assets/" + name, import.meta.url))';
    const output = { dir: folder, entryFileNames: "[name].js", sourcemap: true, ...options };
    const added = await bundle(module, { asset, workerUrl }, output);
    chunks.push(...added);
    return added[0]?.fileName ?? "";
  }

  async function workerUrl(file: string): Promise<string> {
    const name = await add(file, { codeSplitting: false });
    return `new URL(${JSON.stringify(`./${name}`)}, import.meta.url)`;
  }
}
