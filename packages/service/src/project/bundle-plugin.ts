import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "rolldown";

/** How a bundle finds what is not code of the main thread; both are expressions. */
export interface BundleParts {
  /** Returns the URL of the worker with the file `file`. */
  readonly workerUrl: (file: string) => Promise<string>;
  /** The content of the asset of the reference with the name `name`. */
  readonly asset: string;
}

/** The form in which packages name their workers, so that their sources run too. */
const workerUrl = /new URL\(`\.\/([\w-]+)\.\$\{extension\}`, import\.meta\.url\)/g;
const assetFolder = 'path.dirname(require.resolve("@fetchwork/rest/package.json"))';
const assetContent = 'readFileSync(path.join(folder, "assets", name))';

/** Makes a plugin that puts workers and assets into a bundle. */
export function bundlePlugin({ asset, workerUrl: urlOf }: BundleParts): Plugin {
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
