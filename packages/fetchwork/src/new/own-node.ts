import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, posix, win32 } from "node:path";

/**
 * Whether the scripts of a project would run on a Node that is too old for it, or on none: the one
 * that a shell finds, not the one that an npm package brings.
 */
export function needsPinnedNode(
  path: string | undefined,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const isWindows = platform === "win32";
  const { delimiter, sep } = isWindows ? win32 : posix;
  const program = isWindows ? "node.exe" : "node";
  const folders = (path ?? "")
    .split(delimiter)
    .filter((one) => !one.includes(`${sep}node_modules`));
  const found = folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
  if (found === undefined) return true;
  try {
    const version = execFileSync(found, ["--version"], { encoding: "utf8", timeout: 10_000 });
    const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
    return !(major >= 24 || (major === 22 && minor >= 19));
  } catch {
    return true;
  }
}
