import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { secrets } from "./notes-service.ts";

/** A process that runs a service. */
export interface ServiceProcess {
  /** Resolves to the next line of the standard output. */
  line(): Promise<string>;
  /** Resolves to the lines up to the first that has a text. */
  linesTo(text: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
  /** What it wrote to the standard error so far. */
  errors(): string;
}

/**
 * Makes a project below `packages/service`, where packages resolve, which is removed when the test
 * ends.
 */
export function makeProject(main: string): string {
  const folder = mkdtempSync(path.join(import.meta.dirname, "project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(folder, "index.ts"), main);
  return folder;
}

/** The main file of a project that runs the service of `notes-service.ts`. */
export const notesProject = `import { runService } from "@fetchwork/service";
import { app } from "../notes-service.ts";

await runService(app);
`;

/**
 * Starts a project, in its folder; its environment has nothing but `PATH`, `IP` and `PORT`, and
 * what is given.
 */
export function startProject(
  folder: string,
  environment: NodeJS.ProcessEnv,
  cwd = folder,
): ServiceProcess {
  const entry = path.join(folder, "index.ts");
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", entry], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      IP: "127.0.0.1",
      PORT: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (errors += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function line(): Promise<string> {
    const { done, value } = await lines.next();
    if (done) throw new Error(`the output has ended: ${errors}`);
    return value;
  }
  return {
    line,
    async linesTo(text) {
      let all = "";
      for (let last = ""; !last.includes(text); all += `${last}\n`) last = await line();
      return all;
    },
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once("close", resolve)),
    errors: () => errors,
  };
}

/**
 * Starts the service of `notes-service.ts` with its documents in memory, and nothing to warn of.
 */
export function startNotes(environment: NodeJS.ProcessEnv): ServiceProcess {
  return startProject(makeProject(notesProject), {
    ...secrets,
    DATABASE_URL: "sqlite::memory:",
    SECRET_KEY: "s".repeat(32),
    WEBHOOK_SECRET: "w".repeat(32),
    SMTP_URL: "smtp://localhost",
    PUBLIC_URL: "https://api.example",
    ...environment,
  });
}
