import { spawn } from "node:child_process";

/** How a program ended. */
export interface ProgramEnd {
  /** `null` when it was ended. */
  readonly code: number | null;
  readonly output: string;
}

/** A program that runs. */
export interface RunningProgram {
  readonly ended: Promise<ProgramEnd>;
  /**
   * The first line of the standard output that has the pattern; rejects when the program ends
   * without it.
   */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it with everything that it started. */
  kill(): void;
}

/** What a program is started with. */
export interface ProgramOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Milliseconds after which it is ended. */
  readonly limit: number;
  /** Variables besides those of this process. Default: none. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Starts a program in a separate process group. */
export function startProgram(file: string, options: ProgramOptions): RunningProgram {
  const { args, cwd, limit, environment } = options;
  const child = spawn(file, args, {
    cwd,
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let output = "";
  let isOver = false;
  const waiting = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    output += chunk.toString();
    for (const look of waiting) look();
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));

  const kill = (): void => {
    if (isOver || child.pid === undefined) return;
    process.kill(-child.pid, "SIGKILL");
  };
  const timer = setTimeout(() => {
    output += `\nhas not ended after ${limit} ms`;
    kill();
  }, limit);
  const ended = new Promise<ProgramEnd>((resolve) => {
    const end = (code: number | null): void => {
      isOver = true;
      clearTimeout(timer);
      for (const look of waiting) look();
      resolve({ code, output });
    };
    child.on("error", (error) => {
      output += String(error);
      end(null);
    });
    child.on("close", end);
  });

  return {
    ended,
    kill,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(stdout);
          if (found !== null) resolve(found);
          else if (isOver) reject(new Error(output));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
  };
}
