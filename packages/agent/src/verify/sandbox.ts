import { execFile, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { checkOptions } from "../check-options.ts";
import { AgentError, checkCount, checkTime } from "../errors.ts";

/**
 * What keeps a process in: `namespace` has no network (Linux name spaces) and limits of the kernel; `process` has limits
 * of time and output, and of the heap where it is Node. Neither hides the files of the user it runs as.
 */
export type SandboxLevel = "namespace" | "process";

/** How a command is run. */
export interface ExecOptions {
  /** Folder in which it starts. */
  readonly cwd: string;
  /** Milliseconds until it and its children are ended. Default: the sandbox's. */
  readonly timeout?: number | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** How a command ended. */
export interface ExecResult {
  /** Exit status; `null` when it was ended. */
  readonly code: number | null;
  /** The first mebibyte. */
  readonly stdout: string;
  /** The first mebibyte. */
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs commands of a generated project. */
export interface Sandbox {
  readonly level: SandboxLevel;
  exec(command: readonly string[], options: ExecOptions): Promise<ExecResult>;
}

/** Limits of what runs in a sandbox. */
export interface SandboxOptions {
  /** Milliseconds for a command. Default: `60_000`. */
  readonly timeout?: number | undefined;
  /** MiB of a Node heap; in a name space any process's data is limited too, to twice as much and 1 GiB. Default: 512. */
  readonly memory?: number | undefined;
  /** The level that has to be reached. Default: `namespace` where it works, else `process`. */
  readonly level?: SandboxLevel | undefined;
}

const mostOutput = 1024 * 1024;

/** Milliseconds that what a command leaves running may still write to its output. */
const aftermath = 1_000;

/**
 * The best sandbox that works here.
 *
 * @throws AgentError `ERR_AGENT_SANDBOX` as a rejection when `level` asks for more than there is
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions("createSandbox", options, ["timeout", "memory", "level"]);
  const { timeout = 60_000, memory = 512, level } = options;
  checkTime("sandbox.timeout", timeout);
  checkCount("sandbox.memory", memory);
  const wrapper = level === "process" ? undefined : await namespaceCommand(memory);
  if (level === "namespace" && wrapper === undefined) {
    throw new AgentError("ERR_AGENT_SANDBOX", "name spaces without network are not possible here");
  }
  return {
    level: wrapper === undefined ? "process" : "namespace",
    exec: (command, one) => run([...(wrapper ?? []), ...command], { timeout, ...one }, memory),
  };
}

/** A new network has not even its own loopback until somebody brings it up; servers are tested on it. */
const withLoopback = [
  "sh",
  "-c",
  'PATH="$PATH:/usr/sbin:/sbin"; ip link set lo up 2>&- || ifconfig lo up || exit; exec "$@"',
  "sh",
] as const;

async function namespaceCommand(memory: number): Promise<readonly string[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const unshare = ["unshare", "--net", "--map-root-user", "--kill-child", "--fork", "--pid"];
  const limits = [
    "prlimit",
    // A process of Node needs some hundred MiB of address space beside its heap.
    `--data=${(memory * 2 + 1024) * 1024 * 1024}`,
    `--fsize=${512 * 1024 * 1024}`,
    "--core=0",
    "--nofile=1024",
  ];
  const candidates = [
    [...unshare, ...withLoopback, ...limits],
    [...unshare, ...limits],
    [...unshare, ...withLoopback],
    unshare,
  ];
  for (const candidate of candidates) if (await works([...candidate, "true"])) return candidate;
  return undefined;
}

function works([file = "", ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 5_000 }, (error) => resolve(error === null));
  });
}

function run(
  [file = "", ...args]: readonly string[],
  { cwd, timeout, signal }: ExecOptions,
  memory: number,
): Promise<ExecResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      // A group of its own, so that its children end with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      // Nothing of our environment: it has keys.
      env: {
        // oxlint-disable-next-line node/no-process-env -- of all of it only where commands are
        PATH: process.env["PATH"] ?? "",
        HOME: cwd,
        TMPDIR: tmpdir(),
        LANG: "C.UTF-8",
        CI: "1",
        NO_COLOR: "1",
        NODE_OPTIONS: `--max-old-space-size=${memory}`,
      },
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text: string) => {
        output[name] = (output[name] + text).slice(0, mostOutput);
      });
    }
    let timedOut = false;
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has just ended by itself.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeout);
    signal?.addEventListener("abort", end, { once: true });
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve({ code, ...output, timedOut });
    };
    child.once("error", (error) => {
      output.stderr += error.message;
      settle(null);
    });
    child.once("exit", () => {
      // A child that left the group may hold the pipes for ever.
      setTimeout(() => {
        end();
        child.stdout.destroy();
        child.stderr.destroy();
      }, aftermath).unref();
    });
    child.once("close", (code) => {
      // What it left running in its group ends too.
      end();
      settle(code);
    });
  });
}
