import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LoggedRequest, ModelServerOptions } from "../../../agent/test/model-server.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const modelServer = join(import.meta.dirname, "../../../agent/test/model-server.ts");
const source = "--conditions=@fetchwork/source";

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A command in a separate process. */
export interface CommandProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<EndedCommand>;
}

/** What it left. */
export interface EndedCommand {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `fetchwork` with nothing but these variables in its environment. */
export function startCommand(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): CommandProcess {
  const child = spawn(process.execPath, [source, main, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      HOME: cwd,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (written[name] += text));
  }
  const ended = new Promise<EndedCommand>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, ...written }));
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended };
}

/** A scripted model server in a separate process. */
export interface ServerProcess {
  readonly baseUrl: string;
  /** All questions so far. */
  requests(): Promise<readonly LoggedRequest[]>;
  /** Ends it, and resolves when nobody listens any more. */
  stop(): Promise<void>;
}

/** Starts the scripted model server as a process. */
export async function startServer(options: ModelServerOptions): Promise<ServerProcess> {
  const script = join(temporaryFolder(), "script.json");
  writeFileSync(script, JSON.stringify(options));
  const child = spawn(process.execPath, [source, modelServer, script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(line.trim()));
  });
  return {
    baseUrl,
    async requests() {
      const response = await fetch(new URL("/requests", baseUrl));
      return (await response.json()) as readonly LoggedRequest[];
    },
    async stop() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** The files of a folder by path, but for the journals of runs. */
export function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork/runs") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** The files that a program has, without ours. */
export function programOf(folder: string): Readonly<Record<string, string>> {
  const files = [...treeOf(folder)].filter(
    ([path]) => !path.startsWith(".fetchwork") && path !== "shared_deps.md",
  );
  return Object.fromEntries(files);
}
