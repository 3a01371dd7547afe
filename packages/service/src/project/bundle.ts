import path from "node:path";
import type { OutputChunk, OutputOptions } from "rolldown";
import { StartError } from "../errors.ts";
import { type BundleParts, bundlePlugin } from "./bundle-plugin.ts";

/**
 * Bundles a module with all that it imports for Node: its chunks, the module first. Names stay, for stacks of errors.
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
    const minify = { compress: true, mangle: false, codegen: true };
    const { output: files } = await built.generate({ format: "esm", minify, ...output });
    return files.filter((file) => file.type === "chunk");
  } finally {
    await built.close();
  }
}
