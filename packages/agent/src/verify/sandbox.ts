import { type ChildProcess, execFile, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { checkOptions } from "../check-options.ts";
import { AgentError, AgentUsageError, checkCount, checkTime, optionError } from "../errors.ts";
import { sealedCommand } from "./sealed.ts";
import { endProgram } from "./end-program.ts";

/**
 * Isolation of a process: `sealed` has none of the machine's files, network, processes and sockets.
 * It has its working folder, the system's programs (read-only), and limits of the kernel (Linux
 * with user name spaces). `process` has limits of time and output, and of the heap where it is
 * Node. It can do all that its user can.
 */
export type SandboxLevel = "sealed" | "process";

/** How a command is run. */
export interface ExecOptions {
  /**
   * Folder in which it starts. A sealed command sees it at the same path. As root it runs as the
   * folder's owner, who must be another user: root's processes cannot be limited.
   */
  readonly cwd: string;
  /** Read-only folders of a sealed command, such as packages; or `cwd`. Default: none. */
  readonly readOnly?: readonly string[] | undefined;
  /** Milliseconds until it and its children are ended. Default: the sandbox's. */
  readonly timeout?: number | undefined;
  /** Processes and threads of a sealed command. Default: 64 and 16 for each core, at most 512. */
  readonly processes?: number | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
  /** `inherit`: input and output of this process; none is collected. Default: no input. */
  readonly stdio?: "inherit" | undefined;
}

/** How a command ended. */
export interface ExecResult {
  /** Exit status; `null` when it was ended. Sealed, after a signal: 128 and its number. */
  readonly code: number | null;
  /** The first mebibyte; of more, its first and its last half. */
  readonly stdout: string;
  /** Standard error, kept as `stdout` is. */
  readonly stderr: string;
  /** Whether the command was ended because its time was over. */
  readonly timedOut: boolean;
}

/** Runs commands of a generated project. */
export interface Sandbox {
  readonly level: SandboxLevel;
  /** URL of the npm registry for packages of programs. Default: none are fetched. */
  readonly registry?: string | undefined;
  /** Runs a command without a shell. Resolves also when it fails; see `ExecResult.status`. */
  exec(command: readonly string[], options: ExecOptions): Promise<ExecResult>;
}

/** Limits of what runs in a sandbox. */
export interface SandboxOptions {
  /** Milliseconds for a command. Default: `60_000`. */
  readonly timeout?: number | undefined;
  /**
   * MiB of a Node heap. Sealed, it is also the limit of files in /tmp. Twice as much and 1 GiB is
   * then the limit of any process's data. Default: 512.
   */
  readonly memory?: number | undefined;
  /** `process` limits time and output only: for code you trust. Default: `sealed`. */
  readonly level?: SandboxLevel | undefined;
  /**
   * URL of an npm registry without credentials, such as `https://registry.npmjs.org/`. Packages
   * that a program's package.json names and its folder does not have are fetched from there before
   * the program runs: npm reaches nothing else, and runs no scripts; scripts of packages run
   * afterwards, without network. Default: packages are not fetched.
   */
  readonly registry?: string | undefined;
}

const maxOutput = 1024 * 1024;

/** Milliseconds that what a command leaves running may still write to its output. */
const aftermath = 1_000;

/**
 * Makes a sandbox.
 *
 * @throws AgentError `ERR_AGENT_SANDBOX` as a rejection when commands cannot be sealed here
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions("createSandbox", options, ["timeout", "memory", "level", "registry"]);
  const { timeout = 60_000, memory = 512, level = "sealed", registry } = options;
  checkTime("sandbox.timeout", timeout);
  checkCount("sandbox.memory", memory);
  if (level !== "sealed" && level !== "process") {
    throw optionError("sandbox.level", level, "one of sealed, process");
  }
  if (registry !== undefined && !isRegistry(registry)) {
    // Its value may be secret.
    const message = "sandbox.registry must be an http or https URL without credentials";
    throw new AgentUsageError("ERR_AGENT_OPTION", message);
  }
  if (level === "sealed") await checkSealing(memory);
  return {
    level,
    registry,
    async exec(command, given) {
      const options = { ...given, timeout: given.timeout ?? timeout, memory };
      if (level === "process") return run(command, { ...options, env: ownEnv(given.cwd) });
      const { readOnly = [] } = given;
      return run(sealedCommand(command, { ...options, readOnly }), { ...options, env: sealedEnv });
    },
  };
}

function isRegistry(text: string): boolean {
  const { protocol, username, password } = URL.parse(text) ?? {};
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

const sealedEnv = {
  PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  HOME: "/tmp",
  TMPDIR: "/tmp",
};

function ownEnv(cwd: string): Readonly<Record<string, string>> {
  // oxlint-disable-next-line node/no-process-env -- of all of it only where commands are
  return { PATH: process.env["PATH"] ?? "", HOME: cwd, TMPDIR: tmpdir() };
}

/** @throws AgentError `ERR_AGENT_SANDBOX` with what to do about it */
async function checkSealing(memory: number): Promise<void> {
  const cwd = "/usr/bin";
  const [file = "", ...args] =
    process.platform === "linux"
      ? sealedCommand(["true"], { cwd, readOnly: [cwd], memory, timeout: 5_000 })
      : [];
  const failure = await new Promise<string | undefined>((resolve) => {
    if (file === "") return resolve(`it requires Linux, not ${process.platform}`);
    const options = { timeout: 5_000, killSignal: "SIGKILL", env: sealedEnv } as const;
    execFile(file, args, options, (error, _, stderr) => {
      resolve(error === null ? undefined : stderr.trim() || error.message.slice(0, 200));
    });
  });
  if (failure === undefined) return;
  throw new AgentError(
    "ERR_AGENT_SANDBOX",
    `commands cannot be sealed here: ${failure}; install util-linux and allow user name spaces ` +
      "(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a container also " +
      "its seccomp profile), or choose the level process, which protects neither files nor network",
  );
}

interface RunOptions extends ExecOptions {
  readonly timeout: number;
  readonly memory: number;
  readonly env: Readonly<Record<string, string>>;
}

function run(
  [file = "", ...args]: readonly string[],
  { cwd, timeout, signal, stdio, memory, env }: RunOptions,
): Promise<ExecResult> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(file, args, {
        cwd,
        // A separate process group, so that its children end with it.
        detached: true,
        stdio: stdio ?? ["ignore", "pipe", "pipe"],
        // Nothing of our environment: it has keys.
        env: {
          ...env,
          LANG: "C.UTF-8",
          CI: "1",
          NO_COLOR: "1",
          NODE_OPTIONS: `--max-old-space-size=${memory}`,
        },
      });
    } catch (error) {
      // The command is too long for the system, or has a null character.
      const stderr = error instanceof Error ? error.message : String(error);
      return resolve({ code: null, stdout: "", stderr, timedOut: false });
    }
    const output = { stdout: new Ends(), stderr: new Ends() };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.setEncoding("utf8");
      child[name]?.on("data", (text: string) => {
        output[name].push(text);
      });
    }
    let timedOut = false;
    const end = (): void => endProgram(child.pid);
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeout);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve({ code, stdout: String(output.stdout), stderr: String(output.stderr), timedOut });
    };
    child.once("error", (error) => {
      output.stderr.push(error.message);
      settle(null);
    });
    child.once("exit", () => {
      // A child that left the group may hold the pipes without end.
      setTimeout(() => {
        end();
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, aftermath).unref();
    });
    child.once("close", (code) => {
      // Processes that the command left running in its group end too.
      end();
      settle(code);
    });
  });
}

/** The beginning of a text, and its end, where the summaries of tests are. */
class Ends {
  #start = "";
  #end = "";

  push(text: string): void {
    const space = maxOutput / 2 - this.#start.length;
    this.#start += text.slice(0, space);
    this.#end += text.slice(space);
    if (this.#end.length > 2 * maxOutput) this.#end = this.#end.slice(-maxOutput / 2);
  }

  toString(): string {
    return this.#start + this.#end.slice(-maxOutput / 2);
  }
}
