import { execFileSync } from "node:child_process";

/** Ends a program that leads a process group, with all it started, unless it has ended. */
export function endProgram(
  pid: number | undefined,
  platform: NodeJS.Platform = process.platform,
  run: (file: string, args: readonly string[]) => void = quietly,
): void {
  if (pid === undefined) return;
  try {
    // Windows has no process groups, but knows what a process has started.
    if (platform === "win32") run("taskkill.exe", ["/pid", String(pid), "/t", "/f"]);
    else process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function quietly(file: string, args: readonly string[]): void {
  execFileSync(file, args, { stdio: "ignore" });
}
