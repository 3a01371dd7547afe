import { spawn } from "node:child_process";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../../../test/free-port.ts";

const masterKey = "master-key-master-key-master-key-";

/** Starts a command in a folder; it is the service of `makeProject`, of which everything works. */
export async function expectService(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  const port = await freePort();
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      IP: "127.0.0.1",
      PORT: String(port),
      MASTER_KEY: masterKey,
      // Written by `pino`, which is loaded for it.
      LOG: "json",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => void (output += chunk));
  }
  const end = new Promise<number | null>((resolve) => child.once("exit", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await end;
  });
  const origin = `http://127.0.0.1:${port}`;
  await expect.poll(() => output, { timeout: 30_000 }).toContain(String(port));

  const send = async (target: string, init?: RequestInit): Promise<string> => {
    const response = await fetch(`${origin}${target}`, init);
    return `${response.status} ${await response.text()}`;
  };
  const post = (target: string, form: object, headers: HeadersInit = {}): Promise<string> =>
    send(target, { method: "POST", headers, body: new URLSearchParams({ ...form }) });
  const user = { email: "ada@example.com", password: "correct horse battery" };
  expect(await post("/users", { ...user, access_token: masterKey })).toMatch(/^201 /);
  const authorization = `Basic ${btoa(`${user.email}:${user.password}`)}`;
  const signedIn = await post("/auth", {}, { authorization });
  const [, token = ""] = /^201 .*"token":"([^"]+)"/.exec(signedIn) ?? [];
  const bearer = { authorization: `Bearer ${token}` };
  expect(await post("/notes", { text: "Bundled words" }, bearer)).toMatch(/^201 /);
  await expect.poll(() => send("/notes?q=bundled")).toMatch(/^200 .*Bundled words/);
  expect(await send("/problems")).toBe('200 {"ok":true,"problems":[]}');
  expect(await post("/passkeys/sign-in-options", {})).toMatch(/^200 /);
  expect(await send("/docs")).toContain("<title>Notes");
  expect((await send("/docs/swagger-ui-bundle.js")).length).toBeGreaterThan(1_000_000);
  child.kill("SIGTERM");
  expect({ code: await end, output }).toMatchObject({ code: 0 });
}

/** Runs the worker that hashes passwords where Node cannot. */
export async function hashInWorker(file: string): Promise<string> {
  const workerData = {
    message: Buffer.from("password"),
    nonce: Buffer.alloc(16),
    memory: 64,
    passes: 1,
    parallelism: 1,
    tagLength: 16,
  };
  const worker = new Worker(path.resolve(file), { workerData, execArgv: [] });
  return new Promise((resolve, reject) => {
    worker.once("message", (tag: Uint8Array) => resolve(Buffer.from(tag).toString("hex")));
    worker.once("error", reject);
  });
}
