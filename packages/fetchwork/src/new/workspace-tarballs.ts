import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository that this command runs from; `undefined` for the published command. */
export function workspaceRoot(): string | undefined {
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const file = join(root, "package.json");
  if (!existsSync(file)) return undefined;
  const { name } = JSON.parse(readFileSync(file, "utf8")) as { readonly name?: unknown };
  return name === "fetchwork-workspace" ? root : undefined;
}

/** Packs packages with those of ours that they need; returns the tarballs by name. */
export async function workspaceTarballs(
  root: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { tarballsOf } = (await import(
    pathToFileURL(join(root, "scripts/pack-workspace.ts")).href
  )) as { readonly tarballsOf: typeof workspaceTarballs };
  return tarballsOf(root, names, signal);
}
