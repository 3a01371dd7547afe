import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Where and with what a block is run. */
export interface RunOptions {
  /** Absolute path of the block's file. */
  readonly file: string;
  /** Working directory, which a second run finds as the first one left it. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Milliseconds after which a program that neither ends nor listens is one that runs until it is stopped. */
const patience = 8000;
/** Milliseconds that a program has to end by itself after a signal. */
const grace = 10_000;

/**
 * Runs a block as a program. A server is asked something; what goes on running is stopped with SIGTERM.
 *
 * @returns What is wrong; `undefined` when it ran.
 */
export async function runBlock({
  file,
  folder,
  environment,
}: RunOptions): Promise<string | undefined> {
  const listening = join(folder, ".listening");
  rmSync(listening, { force: true });
  const child = spawn(
    process.execPath,
    ["--import", new URL("redirect.mjs", import.meta.url).href, file],
    {
      cwd: folder,
      env: { ...environment, PATH: process.env["PATH"] ?? "", FETCHWORK_LISTENING: listening },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = new Promise<string>((resolve) => {
    child.on("close", (code, signal) => resolve(code === null ? String(signal) : String(code)));
  });

  const started = performance.now();
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  while (isRunning() && !existsSync(listening) && performance.now() - started < patience)
    await wait(50);
  if (!isRunning()) return (await ended) === "0" ? undefined : output;

  const fault = existsSync(listening)
    ? await askServer(readFileSync(listening, "utf8"))
    : undefined;
  child.kill("SIGTERM");
  const late = AbortSignal.timeout(grace);
  late.addEventListener("abort", () => child.kill("SIGKILL"));
  const end = await ended;
  if (fault !== undefined) return `${fault}\n${output}`;
  return end === "0" || end === "SIGTERM" || end === "143"
    ? undefined
    : `ended with ${end}\n${output}`;
}

async function askServer(port: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(grace);
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { signal });
    return status >= 500 ? `GET / returned ${status}` : undefined;
  } catch (error) {
    return `GET / failed: ${String(error)}`;
  }
}
