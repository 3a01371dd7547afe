import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { jwtSecret, masterKey } from "./api-client.ts";

const projectFolder = path.join(import.meta.dirname, "..");

/** A process that serves the API while a test runs. */
export interface ServerProcess {
  readonly origin: string;
  readonly child: ChildProcess;
  /** Resolves when it has ended. */
  readonly end: Promise<{ readonly code: number | null; readonly errors: string }>;
}

/** Starts a process; resolves when it listens. */
export async function startServer(environment: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const entry = path.join(projectFolder, "src/index.ts");
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", entry], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      MASTER_KEY: masterKey,
      JWT_SECRET: jwtSecret,
      IP: "127.0.0.1",
      PORT: "0",
      LOG: "off",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const errors = text(child.stderr);
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const end = exit.then(async (code) => ({ code, errors: await errors }));
  const origin = await new Promise<string>((resolve, reject) => {
    let seen = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      seen += chunk;
      const [, found] = /(http:\/\/127\.0\.0\.1:\d+)[^]*Ctrl-C/.exec(seen) ?? [];
      if (found !== undefined) resolve(found);
    });
    void end.then(({ errors: why }) => reject(new Error(`the server has ended: ${why}`)));
  });
  return { origin, child, end };
}
