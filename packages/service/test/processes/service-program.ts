import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const masterKey = "test-master-key-test-master-key-0";

/** A project in a temporary folder, whose program runs the service of `app.ts`. */
export interface Project {
  readonly folder: string;
  /** Writes the program; `code` is what its route `/process` responds with. */
  write(code: string): void;
  /** Writes `.env`. */
  set(variables: Readonly<Record<string, string>>): void;
}

export function createProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), "processes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const source = new URL("../../src/index.ts", import.meta.url).href;
  const app = new URL("app.ts", import.meta.url).href;
  const project: Project = {
    folder,
    write(code) {
      writeFileSync(
        join(folder, "main.js"),
        `import { runService } from ${JSON.stringify(source)};\n` +
          `import { createApp } from ${JSON.stringify(app)};\n` +
          `await runService(createApp(${JSON.stringify(code)}));\n`,
      );
    },
    set(variables) {
      const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(folder, ".env"), lines.join(""));
    },
  };
  project.write("first");
  return project;
}

/** A service that runs as a program does. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What was printed so far. */
  readonly printed: () => string;
  /** Resolves when it serves, to where; rejects when it ended before. */
  readonly origin: Promise<string>;
  /** Resolves when it has ended. */
  readonly end: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/**
 * Starts the program of a project, the leader of a process group, in which everything ends with the
 * test.
 */
export function startProgram(
  { folder }: Project,
  environment: Readonly<Record<string, string>>,
): Program {
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", join(folder, "main.js")],
    {
      cwd: root,
      detached: true,
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        MASTER_KEY: masterKey,
        JWT_SECRET: "test-jwt-secret-test-jwt-secret-00",
        IP: "127.0.0.1",
        PORT: "0",
        LOG: "spec",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const pid = child.pid ?? 0;
  onTestFinished(() => endGroup(pid));
  let text = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  const end = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const origin = new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const [, found] = /(http:\/\/127\.0\.0\.1:\d+)(?:[^]*Ctrl-C|.*"listening")/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", look);
    void end.then(({ code }) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  origin.catch(() => undefined);
  return { child, pid, printed: () => text, origin, end };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All have ended.
  }
}
