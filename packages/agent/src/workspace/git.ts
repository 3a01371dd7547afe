import { spawn } from "node:child_process";
import { realpath, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** Result of a call of git. */
export interface GitResult {
  readonly ok: boolean;
  readonly stdout: Buffer;
  /** At most 4,000 characters. */
  readonly stderr: string;
}

/** How git is called. */
export interface GitCall {
  readonly input?: Uint8Array | undefined;
  /** Variables besides ours. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Settings that override those of the repository. */
  readonly config?: readonly (readonly [string, string])[] | undefined;
  /** Milliseconds. Default: `30_000`. */
  readonly timeout?: number | undefined;
  /** Runs hooks, filters and signatures as the user's git does. Default: `false`. */
  readonly asUser?: boolean | undefined;
}

/** Overrides of a repository's settings that may name a program, or that the calls below read. */
const overrides: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.untrackedCache", "false"],
  ["submodule.recurse", "false"],
];

/** Maximum bytes of an answer: the paths of some 500,000 files. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Calls git in a folder whose configuration may be hostile: no program that it names is run,
 * nothing is fetched, no variable of the environment leads elsewhere. Filters are switched off by
 * {@link withoutFilters}. A git that is missing, too slow or says too much has failed.
 */
export async function git(
  folder: string,
  args: readonly string[],
  { input, env, config = [], timeout = 30_000, asUser = false }: GitCall = {},
): Promise<GitResult> {
  // The author may occur there too.
  const unset = asUser ? /^GIT_(?!AUTHOR_|COMMITTER_)/i : /^GIT_/i;
  const settings = asUser ? config : [...overrides, ...config];
  const child = spawn("git", ["--no-pager", ...args], {
    cwd: folder,
    timeout,
    // A commit takes its lock files along.
    killSignal: asUser ? "SIGTERM" : "SIGKILL",
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      // oxlint-disable-next-line node/no-process-env -- Git needs the home folder and the path of the user.
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !unset.test(name))),
      GIT_TERMINAL_PROMPT: "0",
      ...(asUser
        ? {}
        : {
            LC_ALL: "C",
            GIT_OPTIONAL_LOCKS: "0",
            GIT_ALLOW_PROTOCOL: "none",
            GIT_NO_LAZY_FETCH: "1",
          }),
      // By variables: a name in `-c name=value` ends at its first `=`, and a filter's name may have
      // one.
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([name, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, name],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
      ...env,
    },
  });
  const parts: Buffer[] = [];
  let bytes = 0;
  let stderr = "";
  child.stdout.on("data", (part: Buffer) => {
    bytes += part.byteLength;
    if (bytes > maxBytes) child.kill("SIGKILL");
    else parts.push(part);
  });
  child.stderr.on("data", (part: Buffer) => {
    if (stderr.length < 4_000) stderr = (stderr + part.toString("utf8")).slice(0, 4_000);
  });
  if (asUser) {
    // Processes that a hook started and left hold the pipes open.
    child.once("exit", () => {
      setTimeout(() => [child.stdout, child.stderr].map((pipe) => pipe.destroy()), 1_000).unref();
    });
  }
  // It may end before it has read all.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const ok = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  return { ok, stdout: Buffer.concat(parts), stderr };
}

/** A name that git printed, such as a hash. */
export function lineOf(output: Buffer): string {
  return output.toString("latin1").trim();
}

/** Settings that disable programs by which git reads and writes files (`filter.*.clean`). */
export async function withoutFilters(
  folder: string,
): Promise<readonly (readonly [string, string])[]> {
  const { stdout } = await git(folder, ["config", "--list", "--name-only", "-z"]);
  return stdout
    .toString("utf8")
    .split("\0")
    .filter((name) => /^filter\..+\.(?:clean|smudge|process|required)$/is.test(name))
    .map((name) => [name, /required$/i.test(name) ? "false" : ""]);
}

/** The work tree of git that a folder lies in. */
export interface WorkTree {
  readonly top: string;
  /** Folder of the repository, as in `/home/me/project/.git`. */
  readonly gitDir: string;
  /** Path of the folder in the work tree, with `/` at its end; empty at the top. */
  readonly prefix: string;
}

/**
 * The work tree that a folder belongs to; undefined where there is none, where git refuses it
 * (`safe.directory`), where its `.git` is a file that leads to the repository of another folder, or
 * where the work tree ignores the folder.
 */
export async function workTreeOf(folder: string): Promise<WorkTree | undefined> {
  const found = await git(folder, ["rev-parse", "--show-toplevel", "--absolute-git-dir"]);
  const [top = "", gitDir = "", ...rest] = found.stdout.toString("utf8").split("\n");
  if (!found.ok || rest.join("") !== "" || top === "" || gitDir === "") return undefined;
  const inner = relative(top, folder);
  if (inner === ".." || inner.startsWith(`..${sep}`)) return undefined;
  if (!(await belongs(top, gitDir))) return undefined;
  const isIgnored = inner !== "" && (await git(top, ["check-ignore", "-q", "--", `./${inner}`])).ok;
  if (isIgnored) return undefined;
  return { top, gitDir, prefix: inner === "" ? "" : `${inner.replaceAll(sep, "/")}/` };
}

/** `.git` of the work tree, or a repository that names it: `git worktree`, a submodule. */
async function belongs(top: string, gitDir: string): Promise<boolean> {
  if (gitDir === join(top, ".git")) return true;
  const back = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => "");
  const real = await realpath(back.trim()).catch(() => undefined);
  if (real !== undefined && real === join(top, ".git")) return true;
  return (await git(top, ["config", "--local", "--get", "core.worktree"])).ok;
}
