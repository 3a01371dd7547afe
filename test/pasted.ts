import { spawn } from "node:child_process";
import { cp } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";

/** Copies what Git would have of a project. */
export async function copyCommitted(from: string, to: string): Promise<string> {
  const ignored = new Set([".env", ".git", "data", "node_modules"].map((name) => join(from, name)));
  await cp(from, to, { recursive: true, filter: (path) => !ignored.has(path) });
  return to;
}

/** Runs lines as a person pastes them; the first that fails ends it. */
export async function pasted(
  lines: string,
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { CI: _ci, ...env } = process.env;
  const child = spawn("bash", ["-euo", "pipefail", "-c", lines], {
    cwd,
    env: { ...env, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (all += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${lines}\n${all}`);
  return output;
}

/** Waits until a URL responds with 200. */
export async function answers(url: string): Promise<void> {
  const isThere = async (): Promise<number> =>
    fetch(url).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(isThere, { timeout: 20_000, interval: 50 }).toBe(200);
}

/** Finds a port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
