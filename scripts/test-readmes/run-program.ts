import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

/** A program of a README. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Working directory, which a second run finds as the first one left it. */
  readonly folder: string;
  /** All variables but `PATH`. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Milliseconds after which a program that neither ends nor serves is one that runs until it is
   * stopped.
   */
  readonly patience: number;
  /** The URLs that it serves, once it does. */
  readonly urls: (stdout: string) => readonly string[];
}

/** How a program ran. */
export interface Outcome {
  readonly stdout: string;
  /** What is wrong; `undefined` when it ran. */
  readonly fault: string | undefined;
}

/** Milliseconds that a program has to respond, and to end by itself after a signal. */
const grace = 10_000;

/** Runs a program. A server is asked something; what goes on running is stopped with SIGTERM. */
export async function runProgram(program: Program): Promise<Outcome> {
  const { command, args, folder, environment, patience, urls } = program;
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...environment, PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = new Promise<string>((resolve) => {
    child.on("close", (code, signal) => resolve(code === null ? String(signal) : String(code)));
  });

  const started = performance.now();
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  while (isRunning() && urls(stdout).length === 0 && performance.now() - started < patience)
    await wait(50);
  if (!isRunning()) {
    const end = await ended;
    return { stdout, fault: end === "0" ? undefined : `ended with ${end}\n${output}` };
  }

  const faults = (await Promise.all(urls(stdout).map(askServer))).filter(
    (fault) => fault !== undefined,
  );
  child.kill("SIGTERM");
  const late = AbortSignal.timeout(grace);
  late.addEventListener("abort", () => child.kill("SIGKILL"));
  const end = await ended;
  if (!["0", "SIGTERM", "143"].includes(end)) faults.push(`ended with ${end}`);
  return { stdout, fault: faults.length === 0 ? undefined : [...faults, output].join("\n") };
}

async function askServer(url: string): Promise<string | undefined> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(grace) });
    return status >= 500 ? `GET ${url} returned ${status}` : undefined;
  } catch (error) {
    return `GET ${url} failed: ${String(error)}`;
  }
}
