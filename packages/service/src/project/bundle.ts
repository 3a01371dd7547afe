import { existsSync } from "node:fs";
import path from "node:path";
import type { OutputChunk, OutputOptions, Plugin } from "rolldown";
import { StartError } from "../errors.ts";

/** How a bundle finds what is not code of the main thread; both are expressions. */
export interface BundleParts {
  /** Returns the URL of the worker with the file `file`. */
  readonly workerUrl: (file: string) => Promise<string>;
  /** The content of the asset of the reference with the name `name`. */
  readonly asset: string;
}

/**
 * Bundles a module with all that it imports for Node: its chunks, the module first. Names stay, for
 * stacks of errors.
 *
 * @throws StartError when the package `rolldown` is not installed.
 */
export async function bundle(
  input: string,
  parts: BundleParts,
  output: OutputOptions,
): Promise<OutputChunk[]> {
  const { rolldown } = await import("rolldown").catch((cause: unknown) => {
    const advice = "build needs the package rolldown: npm install --save-dev rolldown";
    throw new StartError(advice, { cause });
  });
  const conditions = process.execArgv.flatMap((flag) => {
    return /^(?:--conditions|-C)=(.+)$/.exec(flag)?.[1] ?? [];
  });
  const built = await rolldown({
    input,
    platform: "node",
    cwd: path.dirname(input),
    resolve: { conditionNames: [...conditions, "node"] },
    plugins: [bundlePlugin(parts)],
    logLevel: "silent",
  });
  try {
    // Lines stay, so that an error shows its own and not the whole file.
    const minify = { compress: true, mangle: false, codegen: false };
    const { output: files } = await built.generate({ format: "esm", minify, ...output });
    return files.filter((file) => file.type === "chunk");
  } finally {
    await built.close();
  }
}

/** The form in which packages name their workers, so that their sources run too. */
const workerUrl = /new URL\(`\.\/([\w-]+)\.\$\{extension\}`, import\.meta\.url\)/g;
const assetFolder = 'path.dirname(require.resolve("@fetchwork/rest/package.json"))';
const assetContent = 'readFileSync(path.join(folder, "assets", name))';

/** Makes a plugin that puts workers and assets into a bundle. */
function bundlePlugin({ asset, workerUrl: urlOf }: BundleParts): Plugin {
  return {
    name: "fetchwork-service",
    async transform(code, id) {
      let result = code.replace(assetContent, () => asset).replace(assetFolder, '""');
      for (const [expression, name] of code.matchAll(workerUrl)) {
        const files = ["ts", "js"].map((end) => path.join(path.dirname(id), `${name}.${end}`));
        const file = files.find((one) => existsSync(one));
        if (file === undefined) continue;
        const url = await urlOf(file);
        result = result.replace(expression, () => url);
      }
      return result === code ? undefined : { code: result, map: null };
    },
  };
}
