import { spawn } from "node:child_process";

/** Returns what starts a program. npm is a script on Windows: its shell needs fixed arguments. */
export function commandOf(
  program: string,
  args: readonly string[],
  platform: NodeJS.Platform = process.platform,
): readonly [string, readonly string[]] {
  if (platform !== "win32" || program !== "npm") return [program, args];
  return ["cmd.exe", ["/d", "/s", "/c", program, ...args]];
}

/**
 * Runs a program to its end; if it fails, its output is the error's message. When the signal
 * aborts, the program is stopped and waited for. So it writes nothing into a folder that the caller
 * then removes.
 */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  const [file, all] = commandOf(program, args);
  const child = spawn(file, all, { cwd, signal, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream
      .setEncoding("utf8")
      .on("data", (text: string) => void (output = (output + text).slice(-4000)));
  }
  let failure: Error | undefined;
  const code = await new Promise<number | null>((resolve) => {
    // Also when it was stopped or could not be started, "close" follows.
    child.once("error", (error) => void (failure = error)).once("close", resolve);
  });
  if (failure !== undefined) throw failure;
  if (code !== 0)
    throw new Error(`${[program, ...args].slice(0, 3).join(" ")} failed: ${output.trim()}`);
}
