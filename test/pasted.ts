import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { codeBlocks } from "../scripts/markdown.ts";
import { freePort } from "./free-port.ts";

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

interface Running {
  /** What it has printed. */
  readonly output: () => string;
  /** Sends SIGTERM to it and all that it started; resolves to its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Runs `npm run dev` in a project until it is stopped or the test ends. */
export function startDev(project: string, origin: string): Running {
  const env = { PORT: new URL(origin).port, IP: "127.0.0.1" };
  return running(spawnGroup("npm run dev", project, env));
}

interface Deployed {
  readonly project: string;
  /** Where it is copied to. */
  readonly deployed: string;
  /** Folder of the page for data, in whose place `deployed` is used. */
  readonly data: string;
}

/**
 * Copies a project, installs and runs it in production with the last `text` block of a page, whose
 * values `...` become random secrets, until it is healthy; then stops it.
 */
export async function runsDeployed(text: string, folders: Deployed): Promise<void> {
  const { project, deployed, data } = folders;
  const [install = "", start = ""] = codeBlocks(text, "text").at(-1)?.trim().split("\n") ?? [];
  await pasted(install, await copyCommitted(project, deployed));
  const command = start
    .replaceAll("=...", () => `=${randomBytes(32).toString("hex")}`)
    .replace(data, deployed);
  const port = String(await freePort());
  // The server has a Node that is recent enough.
  const PATH = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  const production = running(spawnGroup(command, deployed, { PATH, PORT: port, IP: "127.0.0.1" }));
  await answers(`http://127.0.0.1:${port}/health`);
  // The end of all of it; npm ends by the signal, as its shell does.
  expect(await production.stop()).toBeNull();
}

/** Starts a command in a process group, so that all that it starts can be stopped. */
function spawnGroup(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
  // Vitest's own mode is that of nobody who pastes.
  const { NODE_ENV: _mode, ...inherited } = process.env;
  return spawn("bash", ["-c", command], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
}

function running(child: ChildProcess): Running {
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const stop = async (): Promise<number | null> => {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !isOver) process.kill(-child.pid, "SIGTERM");
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { output: () => output, stop };
}
