import { existsSync } from "node:fs";
import { join } from "node:path";
import { AgentError, asLine } from "../errors.ts";
import { lineOf, git, withoutFilters, workTreeOf, type GitCall, type WorkTree } from "./git.ts";

/** Options of the check of a program's git work tree, before a run changes the program. */
export interface TreeCheck {
  /** Whether files may have changes that are not committed. */
  readonly dirty: boolean;
  /** Whether a commit is made after the run. */
  readonly commit: boolean;
}

/** Parts of the commit of a run. */
export interface RunCommit {
  readonly runId: string;
  /** Its first line is the message. */
  readonly request: string;
  /** Files that the run changed, made or removed, relative to the folder of the program. */
  readonly paths: readonly string[];
}

/** Entries of git's folder while git waits for a person. */
const unfinished: readonly (readonly [string, string])[] = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
];

/** Milliseconds of a commit: hooks may run every test. */
const maxTime = 15 * 60_000;

/**
 * Checks a folder before a run changes it. It runs no hook, filter or other program of the
 * repository. Outside of git only the commit is refused.
 *
 * @throws AgentError `ERR_AGENT_CONFLICT` as a rejection, without `path`, when files of the folder
 * have changes that are not committed
 * @throws AgentError `ERR_AGENT_WRITE` as a rejection, when a commit could not be made
 */
export async function checkWorkTree(root: string, { dirty, commit }: TreeCheck): Promise<void> {
  const tree = await workTreeOf(root);
  if (commit) requireCommittable(tree, root);
  if (tree === undefined || dirty) return;
  const files = await statusOf(root, tree, { config: await withoutFilters(root) });
  if (files.length === 0) return;
  const named = files.slice(0, 5).map(({ path }) => path);
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  throw new AgentError(
    "ERR_AGENT_CONFLICT",
    `files have changes that are not committed: ${named.join(", ")}${more}; commit or stash them, or use the option dirty`,
  );
}

/**
 * Commits the files of a run, as they are now and no other, on the current branch (or a detached
 * HEAD), as the user's git does: with hooks, filters and signatures. Staged changes of other files
 * stay staged.
 *
 * @returns the commit; `null` when nothing differs from the last one
 * @throws AgentError `ERR_AGENT_WRITE` as a rejection, when git or a hook refuses: the files stay
 * as they are
 */
export async function commitRun(
  root: string,
  { runId, request, paths }: RunCommit,
): Promise<string | null> {
  const tree = requireCommittable(await workTreeOf(root), root);
  const asUser = { asUser: true, timeout: maxTime, env: { GIT_LITERAL_PATHSPECS: "1" } };
  const own = new Set(paths);
  // Files that git ignores have no status.
  const changed = (await statusOf(root, tree, asUser)).filter(({ path }) => own.has(path));
  const trailer = `Run: ${runId}`;
  if (changed.length === 0) return isHead(root, trailer);
  const untracked = asInput(changed.filter(({ isUntracked }) => isUntracked));
  const fromInput = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  if (untracked.length > 0) {
    const call = { ...asUser, input: untracked };
    const added = await git(root, ["add", "--intent-to-add", ...fromInput], call);
    if (!added.ok) throw notCommitted(added.stderr);
  }
  const message = `--message=${titleOf(request)}\n\n${trailer}`;
  const flags = ["--only", "--quiet", "--no-edit", "--cleanup=whitespace"];
  const call = { ...asUser, input: asInput(changed) };
  const committed = await git(root, ["commit", ...flags, message, ...fromInput], call);
  if (!committed.ok) {
    const forget = ["update-index", "--force-remove", "-z", "--stdin"];
    if (untracked.length > 0) await git(root, forget, { ...asUser, input: untracked });
    throw notCommitted(committed.stderr);
  }
  return lineOf((await git(root, ["rev-parse", "HEAD"])).stdout);
}

function requireCommittable(tree: WorkTree | undefined, root: string): WorkTree {
  if (tree === undefined) {
    const message = `${root} cannot be committed: it is not in a work tree of git, or is ignored there`;
    throw new AgentError("ERR_AGENT_WRITE", message);
  }
  const [, what] = unfinished.find(([name]) => existsSync(join(tree.gitDir, name))) ?? [];
  if (what === undefined) return tree;
  throw new AgentError(
    "ERR_AGENT_WRITE",
    `nothing can be committed during a ${what}: end it first`,
  );
}

/** A file that differs from the last commit. */
interface ChangedFile {
  readonly path: string;
  readonly isUntracked: boolean;
}

/** Files of a folder that differ from the last commit, without repositories in it. */
async function statusOf(
  root: string,
  { prefix }: WorkTree,
  call: GitCall,
): Promise<readonly ChangedFile[]> {
  const flags = ["--untracked-files=all", "--ignore-submodules=all", "--no-renames"];
  const { ok, stdout, stderr } = await git(
    root,
    ["status", "--porcelain", "-z", ...flags, "--", "."],
    call,
  );
  if (!ok) {
    const cause = new Error(asLine(stderr));
    throw new AgentError("ERR_AGENT_WRITE", "git cannot say what is changed", { cause });
  }
  return stdout
    .toString("utf8")
    .split("\0")
    .map((line) => ({ path: line.slice(3 + prefix.length), isUntracked: line.startsWith("??") }))
    .filter(
      ({ path }) => path !== "" && !path.endsWith("/") && !/(?:^|\/)\.fetchwork\//.test(path),
    );
}

/** HEAD, where it is the commit of a run that was ended before it could say so. */
async function isHead(root: string, trailer: string): Promise<string | null> {
  const { ok, stdout } = await git(root, ["cat-file", "commit", "HEAD"]);
  if (!ok || !stdout.toString("utf8").trimEnd().endsWith(`\n\n${trailer}`)) return null;
  return lineOf((await git(root, ["rev-parse", "HEAD"])).stdout);
}

function notCommitted(stderr: string): AgentError {
  const output = asLine(stderr.trim()).slice(0, 500);
  return new AgentError(
    "ERR_AGENT_WRITE",
    `the files are written, but git did not commit them: ${output || "it took too long, or said nothing"}`,
  );
}

/** The first line of a request, at most 72 characters, cut at a word. */
function titleOf(request: string): string {
  const [first = ""] = request.trim().split(/[\r\n]/, 1);
  const characters = Array.from(asLine(first.replaceAll(/\s+/g, " ")));
  if (characters.length <= 72) return characters.join("");
  const cut = characters.slice(0, 73).lastIndexOf(" ");
  return characters
    .slice(0, cut > 0 ? cut : 72)
    .join("")
    .trimEnd();
}

function asInput(files: readonly ChangedFile[]): Buffer {
  return Buffer.from(files.map(({ path }) => `${path}\0`).join(""));
}
