import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecOptions, ExecResult, Sandbox } from "./sandbox.ts";
import type { ProjectView } from "./verifier.ts";

/** A language's tool that is installed on this machine. */
export interface Tool {
  readonly file: string;
  /** Its installation: what it runs, and what that reads. */
  readonly folders: readonly string[];
}

/** Commands that print installation folders: rustup and pyenv have choosers on the PATH. */
const questions = {
  cargo: ["rustc", "--print", "sysroot"],
  go: ["go", "env", "GOROOT"],
  python3: ["python3", "-I", "-c", "import sys; print(sys.prefix); print(sys.base_prefix)"],
} as const;

/** Finds a tool; undefined where it is missing, or a sandbox cannot show it alone. */
export function findTool(name: keyof typeof questions): Tool | undefined {
  const [command, ...args] = questions[name];
  try {
    // Not in the program's folder, which could name another tool.
    const roots = execFileSync(command, args, {
      cwd: "/",
      encoding: "utf8",
      timeout: 10_000,
      stdio: ["ignore", "pipe", "ignore"],
    })
      .trim()
      .split("\n");
    const file = join(roots[0] ?? "", "bin", name);
    const kept = [homedir(), tmpdir(), "/etc"].map((path) => `${path}/`);
    if (
      !existsSync(file) ||
      roots.some((root) => kept.some((path) => path.startsWith(`${root}/`)))
    ) {
      return undefined;
    }
    return { file, folders: [...new Set(roots)].filter((root) => !`${root}/`.startsWith("/usr/")) };
  } catch {
    return undefined;
  }
}

/** Runs a tool with its installation on the PATH, and with no packages from the network. */
export function execTool(
  { file, folders }: Tool,
  args: readonly string[],
  { folder: cwd, signal }: ProjectView,
  sandbox: Sandbox,
): Promise<ExecResult> {
  const script = 'PATH="${0%/*}:$PATH" exec "$0" "$@"';
  const offline = [
    "GOPROXY=off",
    "GOTOOLCHAIN=local",
    "GOFLAGS=-mod=readonly",
    "CARGO_NET_OFFLINE=true",
    "PYTHONDONTWRITEBYTECODE=1",
    "COLUMNS=200",
  ];
  const options: ExecOptions = { cwd, signal, readOnly: folders };
  return sandbox.exec(["env", ...offline, "sh", "-c", script, file, ...args], options);
}
