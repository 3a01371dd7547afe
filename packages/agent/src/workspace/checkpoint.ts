import { copyFile, lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ConfinedFolder } from "./confined-folder.ts";
import { git, lineOf, withoutFilters, workTreeOf } from "./git.ts";
import { listWithGit } from "./list-files.ts";
import { hashOf } from "./project-writer.ts";

/** Changes of a run in a program, kept so that they can be undone. */
export interface Checkpoint {
  /** The original work tree as a commit of `refs/fetchwork/<run>`; undefined without git. */
  readonly commit: string | undefined;
  /**
   * Keeps a copy of a file that the run is about to write, or to remove (`after` undefined). A move
   * is one of each. The folder's write lock is held.
   *
   * @throws AgentError as a rejection, when the file cannot be read or kept: then it must not be
   * changed
   */
  readonly keep: (path: string, after: string | Uint8Array | undefined) => Promise<void>;
}

/** A change that a run was about to make. */
export interface KeptChange {
  readonly path: string;
  /** SHA-256 of what was there, of which a copy is in `.fetchwork/replaced`; `null`: nothing. */
  readonly before: string | null;
  /** Permissions of what was there. */
  readonly mode: number;
  /** SHA-256 of what is put there; `null`: nothing. */
  readonly after: string | null;
  /** The first folder on the way that was not there; empty: all were. */
  readonly made: string;
}

/** Where a run notes its changes, one a line. */
export function changesPath(runId: string): string {
  return `.fetchwork/runs/${runId}/changes.ndjson`;
}

/** The reference that keeps a run's checkpoint. */
export function checkpointRef(runId: string): string {
  return `refs/fetchwork/${runId}`;
}

/**
 * Takes a checkpoint of a program before a run changes it. In a work tree of git it is a commit of
 * all files that git tracks or would add. `refs/fetchwork/<run>` leads to it. Index, HEAD, branches
 * and stash stay as they are, and no hook, filter or signature is run. A run that is resumed keeps
 * its first commit.
 */
export async function takeCheckpoint(folder: ConfinedFolder, runId: string): Promise<Checkpoint> {
  const commit = await commitWorkTree(folder.root, runId);
  return {
    commit,
    async keep(path, after) {
      const old = await folder.readBytes(path);
      const before = old === undefined ? null : hashOf(old);
      if (old !== undefined) await folder.write(`.fetchwork/replaced/${hashOf(old)}`, old);
      const change: KeptChange = {
        path,
        before,
        mode: old === undefined ? 0 : (await lstat(join(folder.root, path))).mode & 0o777,
        after: after === undefined ? null : hashOf(after),
        made: old === undefined ? await firstMissing(folder.root, path) : "",
      };
      await appendChange(folder, runId, change);
    },
  };
}

/** Adds a line to the changes of a run, on the disk before anything follows. */
export async function appendChange(
  folder: ConfinedFolder,
  runId: string,
  change: KeptChange | { readonly undone: true },
): Promise<void> {
  const file = await folder.openOwn(changesPath(runId));
  try {
    const { size } = await file.stat();
    // A line that was cut by a crash ends here.
    const line = `${size === 0 ? "" : "\n"}${JSON.stringify(change)}\n`;
    await file.write(line, size);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function firstMissing(root: string, path: string): Promise<string> {
  let missing = "";
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    if ((await lstat(join(root, folder)).catch(() => undefined)) !== undefined) break;
    missing = folder;
  }
  return missing;
}

const author = {
  GIT_AUTHOR_NAME: "fetchwork agent",
  GIT_AUTHOR_EMAIL: "agent@fetchwork.invalid",
  GIT_COMMITTER_NAME: "fetchwork agent",
  GIT_COMMITTER_EMAIL: "agent@fetchwork.invalid",
};

async function commitWorkTree(root: string, runId: string): Promise<string | undefined> {
  const tree = await workTreeOf(root);
  if (tree === undefined) return undefined;
  const ref = checkpointRef(runId);
  const old = await revision(root, ref);
  if (old !== undefined) return old;
  const paths = await listWithGit(root, 10_000);
  if (paths === undefined) return undefined;
  const config = await withoutFilters(root);
  const temporary = await mkdtemp(join(tmpdir(), "fetchwork-index-"));
  try {
    const index = join(temporary, "index");
    await copyFile(join(tree.gitDir, "index"), index).catch(() => undefined);
    const env = { GIT_INDEX_FILE: index, ...author };
    // Other repositories are listed as folders.
    const files = paths.filter((path) => path.at(-1) !== 0x2f);
    const input = Buffer.concat(files.flatMap((path) => [path, Buffer.of(0)]));
    const flags = ["--add", "--remove", "--replace", "--ignore-skip-worktree-entries"];
    const update = ["update-index", ...flags, "-z", "--stdin"];
    if (!(await git(root, update, { input, env, config })).ok) return undefined;
    const written = await git(root, ["write-tree"], { env, config });
    const head = await revision(root, "HEAD");
    const parents = head === undefined ? [] : ["-p", head];
    const message = `Before the run ${runId} of fetchwork agent`;
    const args = ["commit-tree", lineOf(written.stdout), ...parents, "-m", message];
    const committed = await git(root, args, { env, config });
    const commit = lineOf(committed.stdout);
    // Only where there is none yet.
    const kept =
      committed.ok && (await git(root, ["update-ref", ref, commit, "0".repeat(commit.length)])).ok;
    return kept ? commit : undefined;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function revision(root: string, name: string): Promise<string | undefined> {
  const { ok, stdout } = await git(root, ["rev-parse", "--verify", "-q", `${name}^{commit}`]);
  return ok ? lineOf(stdout) : undefined;
}
