import { chmod, lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isObject } from "@fetchwork/kit";
import { parseJson } from "../check/parse-json.ts";
import { checkOptions } from "../check-options.ts";
import { AgentError, requireText } from "../errors.ts";
import { validateFilePath } from "../files/file-path.ts";
import { appendChange, changesPath, checkpointRef, type KeptChange } from "./checkpoint.ts";
import { ConfinedFolder } from "./confined-folder.ts";
import { whileLocked } from "./file-lock.ts";
import { git, workTreeOf } from "./git.ts";
import { hashOf, writeLock } from "./project-writer.ts";
import { checkRunId, isRunId } from "./run-id.ts";

/** The run to undo, and how. */
export interface UndoOptions {
  /** Folder of the program. */
  readonly out: string;
  /** Name of the run. Default: the last one that changed something and is not undone. */
  readonly runId?: string | undefined;
  /** Also restores files changed since; copies stay in `.fetchwork/replaced`. Default: `false`. */
  readonly force?: boolean | undefined;
  /** Changes nothing. Default: `false`. */
  readonly dryRun?: boolean | undefined;
}

/** Result of undoing a run: the files that were put back. */
export interface UndoResult {
  readonly runId: string;
  readonly files: readonly UndoneFile[];
  /** Files that somebody changed since: of a dry run, or with `force`. */
  readonly conflicts: readonly string[];
}

/** A file that a run had changed. */
export interface UndoneFile {
  readonly path: string;
  /** Its text of before is back; it was made by the run and is gone; it is as before already. */
  readonly action: "restored" | "removed" | "unchanged";
}

/** Files of a run may be longer than those of an agent with default options. */
const maxFileBytes = 64 * 1024 * 1024;

/**
 * Puts back what a run of `edit` changed: files that it changed or removed get their bytes of
 * before, files that it made are removed. All or nothing: a file that somebody changed since is a
 * conflict, and then no other is touched either.
 *
 * @throws AgentUsageError as a rejection, for a wrong option
 * @throws AgentError `ERR_AGENT_CONFLICT` as a rejection, which names the files that were changed
 * since
 * @throws AgentError `ERR_AGENT_JOURNAL` as a rejection, when there is no such run, or a copy is
 * lost
 */
export async function undoRun(options: UndoOptions): Promise<UndoResult> {
  checkOptions("undoRun", options, ["out", "runId", "force", "dryRun"]);
  const { runId, force = false, dryRun = false } = options;
  if (runId !== undefined) checkRunId(runId);
  const out = resolve(requireText("out", options.out));
  const folder = await ConfinedFolder.open(out, { mustExist: true, maxFileBytes });
  const name = runId ?? (await lastRun(folder));
  const changes = name === undefined ? [] : await readChanges(folder, name);
  if (name === undefined || changes.length === 0) {
    const which = runId === undefined ? "no run" : `nothing of the run ${runId}`;
    throw new AgentError("ERR_AGENT_JOURNAL", `there is ${which} in ${out} that can be undone`);
  }
  const { signal } = new AbortController();
  return whileLocked(folder, { path: writeLock, signal }, () =>
    undo(folder, name, { changes, force, dryRun }),
  );
}

/** A file as the run found it, and as it is now. */
interface Target {
  readonly change: KeptChange;
  readonly now: Uint8Array | undefined;
  readonly before: Uint8Array | undefined;
  readonly isConflict: boolean;
}

async function undo(
  folder: ConfinedFolder,
  runId: string,
  {
    changes,
    force,
    dryRun,
  }: { readonly changes: readonly KeptChange[]; readonly force: boolean; readonly dryRun: boolean },
): Promise<UndoResult> {
  const targets: Target[] = [];
  for (const path of new Set(changes.map((change) => change.path))) {
    const own = changes.filter((change) => change.path === path);
    const [change] = own;
    if (change !== undefined) targets.push(await targetOf(folder, runId, change, own));
  }
  const conflicts = targets.filter(({ isConflict }) => isConflict).map(({ change }) => change.path);
  const [path] = conflicts;
  if (path !== undefined && !force && !dryRun) {
    const more = conflicts.length > 10 ? ` and ${conflicts.length - 10} more` : "";
    const message = `changed since the run ${runId}, so nothing was undone: ${conflicts.slice(0, 10).join(", ")}${more}`;
    throw new AgentError("ERR_AGENT_CONFLICT", message, { path });
  }
  const files: UndoneFile[] = [];
  for (const target of targets) {
    files.push({ path: target.change.path, action: actionOf(target) });
    if (!dryRun) await putBack(folder, target);
  }
  if (!dryRun) {
    // Inner folders were made after outer ones.
    for (const { change } of targets.toReversed()) await removeEmpty(folder.root, change);
    await appendChange(folder, runId, { undone: true });
  }
  return { runId, files, conflicts };
}

function actionOf({ change, now }: Target): UndoneFile["action"] {
  if ((now === undefined ? null : hashOf(now)) === change.before) return "unchanged";
  return change.before === null ? "removed" : "restored";
}

async function targetOf(
  folder: ConfinedFolder,
  runId: string,
  change: KeptChange,
  own: readonly KeptChange[],
): Promise<Target> {
  const now = await folder.readBytes(change.path);
  const hash = now === undefined ? null : hashOf(now);
  const isConflict = hash !== change.before && !own.some(({ after }) => after === hash);
  const before = change.before === null ? undefined : await copyOf(folder, runId, change);
  return { change, now, before, isConflict };
}

/** The bytes of before: from the copy, or from the checkpoint. */
async function copyOf(
  folder: ConfinedFolder,
  runId: string,
  { path, before }: KeptChange,
): Promise<Uint8Array> {
  const kept = await folder.readBytes(`.fetchwork/replaced/${before}`);
  if (kept !== undefined && hashOf(kept) === before) return kept;
  const tree = await workTreeOf(folder.root);
  const name = `${checkpointRef(runId)}:${tree?.prefix ?? ""}${path}`;
  const { stdout } = await git(folder.root, ["cat-file", "blob", name]);
  if (tree !== undefined && hashOf(stdout) === before) return stdout;
  throw new AgentError("ERR_AGENT_JOURNAL", `the copy of ${path} is lost: nothing was undone`, {
    path,
  });
}

async function putBack(folder: ConfinedFolder, target: Target): Promise<void> {
  const { change, now, before, isConflict } = target;
  if (actionOf(target) === "unchanged") return;
  if (isConflict && now !== undefined)
    await folder.write(`.fetchwork/replaced/${hashOf(now)}`, now);
  if (before === undefined) {
    await unlink(await inside(folder.root, change.path));
    return;
  }
  await folder.write(change.path, before, { isNew: now === undefined });
  if (now === undefined) await chmod(await inside(folder.root, change.path), change.mode);
}

/** Removes folders that the run made, where they are empty now. */
async function removeEmpty(root: string, { path, made }: KeptChange): Promise<void> {
  if (made === "") return;
  for (let folder = dirname(path); folder.startsWith(made); folder = dirname(folder)) {
    const isEmpty = await rmdir(await inside(root, folder)).then(
      () => true,
      () => false,
    );
    if (!isEmpty) return;
  }
}

/** The place of a path, none of whose folders is a link. */
async function inside(root: string, path: string): Promise<string> {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join("/");
    const status = await lstat(join(root, folder)).catch(() => undefined);
    if (status?.isDirectory() === false) {
      throw new AgentError("ERR_AGENT_UNSAFE_PATH", `${folder} is a link or a file`, { path });
    }
  }
  return join(root, path);
}

async function lastRun(folder: ConfinedFolder): Promise<string | undefined> {
  const names = await readdir(join(folder.root, ".fetchwork/runs")).catch(() => []);
  let last: { readonly name: string; readonly time: number } | undefined;
  for (const name of names.filter(isRunId)) {
    const status = await lstat(join(folder.root, changesPath(name))).catch(() => undefined);
    if (status === undefined || status.mtimeMs <= (last?.time ?? 0)) continue;
    if ((await readChanges(folder, name)).length > 0) last = { name, time: status.mtimeMs };
  }
  return last?.name;
}

/** The changes of a run since it was undone last. A folder that came with them may say anything. */
async function readChanges(folder: ConfinedFolder, runId: string): Promise<readonly KeptChange[]> {
  const text = (await folder.read(changesPath(runId))) ?? "";
  let changes: KeptChange[] = [];
  for (const line of text.split("\n")) {
    const parsed = parseJson(runId, line);
    const value = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    const { path, before, after, mode, made, undone } = value;
    if (undone === true) changes = [];
    const checked = validateFilePath(String(path));
    if (
      checked.ok &&
      isHash(before) &&
      isHash(after) &&
      typeof mode === "number" &&
      typeof made === "string" &&
      (made === "" || checked.path.startsWith(`${made}/`))
    ) {
      changes.push({ path: checked.path, before, after, mode: mode & 0o777, made });
    }
  }
  return changes;
}

function isHash(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && /^[\da-f]{64}$/.test(value));
}
