import { isObject } from "@fetchwork/kit";

/** The package.json of a program; empty where there is none, or none that can be read. */
export function readManifest(
  files: Pick<ReadonlyMap<string, string>, "get">,
): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(files.get("package.json") ?? "{}");
    return isObject(manifest) ? manifest : {};
  } catch {
    return {};
  }
}
