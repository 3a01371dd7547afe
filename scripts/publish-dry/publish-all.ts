import { availableParallelism } from "node:os";
import { packPackages } from "../pack-packages.mjs";
import { startProgram } from "../test-runtimes/start-program.ts";
import type { LocalRegistry } from "./local-registry.ts";

/** Packs all packages, which must be built, and publishes them. Returns their names. */
export async function publishAll(
  registry: LocalRegistry,
  folder: string,
): Promise<readonly string[]> {
  const tarballs = packPackages(folder);
  const waiting = [...tarballs];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { code, output } = await startProgram("npm", {
        args: ["publish", next.file, "--access", "public", "--loglevel", "error"],
        cwd: folder,
        limit: 120_000,
        environment: registry.environment,
      }).ended;
      if (code !== 0) throw new Error(`npm publish of ${next.name} failed:\n${output}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() * 2 }, work));
  return tarballs.map(({ name }) => name);
}
