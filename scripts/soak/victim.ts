import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const clock = new URL("clock.ts", import.meta.url).href;

/** How a process of the soak is started. */
export interface VictimOptions {
  /** The program, a path, and its arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Path of the file that receives what the process prints. */
  readonly log: string;
  /** URL that responds as soon as the process serves. */
  readonly probe: string;
  /** Called when the process ends although nobody ended it. */
  readonly onCrash: (what: string) => void;
}

/** A process that is killed and started again. */
export interface Victim {
  readonly pid: number;
  /** Starts the process, and resolves when it serves. */
  start(): Promise<void>;
  /** Ends the process, and those that it started, as the kernel does when memory runs out. */
  kill(): Promise<void>;
  /**
   * Asks the process to stop, and resolves to its exit code; `null` after it was killed for taking
   * too long.
   */
  stop(): Promise<number | null>;
}

/** Prepares a process; it starts with `start`. */
export function createVictim(options: VictimOptions): Victim {
  let child: ChildProcess | undefined;
  let isExpected = true;

  async function ended(signal: NodeJS.Signals, target = (pid: number) => pid): Promise<void> {
    isExpected = true;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    process.kill(target(child.pid), signal);
    await exit;
  }

  const victim: Victim = {
    get pid() {
      return child?.pid ?? 0;
    },
    async start() {
      child = startProcess(options);
      isExpected = false;
      child.once("exit", (code, signal) => {
        if (!isExpected) options.onCrash(`${options.command[0]} ended with ${code ?? signal}`);
      });
      await untilServing(options, child);
    },
    kill: () => ended("SIGKILL", (pid) => -pid),
    async stop() {
      const isLate = setTimeout(40_000, true, { ref: false });
      if ((await Promise.race([ended("SIGTERM"), isLate])) === true) await victim.kill();
      return child?.exitCode ?? null;
    },
  };
  return victim;
}

function startProcess({ command, environment, log }: VictimOptions): ChildProcess {
  const output = openSync(log, "a");
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", "--import", clock, ...command],
    {
      cwd: root,
      detached: true,
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", output, output],
    },
  );
  // The whole group ends with the soak.
  const end = (): void => void process.kill(-(child.pid ?? 0), "SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.removeListener("exit", end));
  return child;
}

/** Waits until a process responds, for at most a minute. */
async function untilServing({ log, probe }: VictimOptions, child: ChildProcess): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    try {
      await (await fetch(probe, { signal: AbortSignal.timeout(2_000) })).arrayBuffer();
      return;
    } catch (error) {
      if (performance.now() > end || child.exitCode !== null) {
        const printed = readFileSync(log, "utf8").slice(-2_000);
        throw new Error(`${probe} does not serve: ${printed}`, { cause: error });
      }
      await setTimeout(50);
    }
  }
}
