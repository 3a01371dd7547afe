import { basename } from "node:path";
import { AgentError, cancelled } from "../errors.ts";
import { takeCheckpoint } from "../workspace/checkpoint.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { whileLocked } from "../workspace/file-lock.ts";
import { hashOf, writeLock, written, type WrittenFile } from "../workspace/project-writer.ts";
import type { EditRunParts } from "./edit-run.ts";
import type { EditChange } from "./run-state.ts";

/**
 * Writes what is not there yet. The base of an edit is what was read: a file that somebody changed
 * since is not overwritten, and then no other is written either.
 */
export async function writeChanges(
  changes: readonly EditChange[],
  { runId, folder, settings, signal, emit, state }: EditRunParts,
): Promise<readonly WrittenFile[]> {
  const files = changes.map(fileOf);
  // Later changes of the files by somebody do not concern an edit that is over.
  if (state.finished) return files;
  const checkpoint = await takeCheckpoint(folder, runId);
  const { approve } = settings;
  const removed = changes.filter(({ after }) => after === null);
  const result: WrittenFile[] = [];
  const done = (file: WrittenFile): void => {
    result.push(file);
    emit({ type: "written", path: file.path, action: file.action });
  };
  await whileLocked(folder, { path: writeLock, signal }, async () => {
    for (const change of changes) await stateOf(change, folder);
    for (const change of changes) {
      if (signal.aborted) throw cancelled(signal);
      const { path, after } = change;
      const file = fileOf(change);
      const now = await stateOf(change, folder);
      if (now.isThere) {
        await folder.clean(path);
        done(file);
        continue;
      }
      const { text: before } = now;
      const { action } = file;
      const asked = { path, action, before, after: after ?? "", beside: undefined };
      const decision = (await approve?.(asked)) ?? "apply";
      if (decision === "abort") {
        throw new AgentError("ERR_AGENT_CANCELLED", `the change of ${path} was not approved`);
      }
      if (decision === "skip") {
        done(written(path, "skipped", before ?? ""));
        continue;
      }
      if (approve !== undefined) await stateOf(change, folder);
      // Files are removed last: one that was moved, and perhaps changed, is still in its place.
      const from = removed.find(
        (one) => one.before === file.sha256 || basename(one.path) === basename(path),
      );
      await checkpoint.keep(path, after ?? undefined);
      if (after === null) await folder.remove(path);
      else await folder.write(path, after, { isNew: before === undefined, like: from?.path });
      done(file);
    }
  });
  return result;
}

/** Outcome of a change for its file. */
export function fileOf({ path, before, after }: EditChange): WrittenFile {
  if (after === null) return written(path, "removed", "");
  return written(path, before === null ? "created" : "updated", after);
}

/** State of a file's place: the new or the original text. Anything else is a conflict. */
async function stateOf(
  { path, before, after }: EditChange,
  folder: ConfinedFolder,
): Promise<{ readonly isThere: boolean; readonly text: string | undefined }> {
  const text = await folder.read(path);
  const isThere = (text ?? null) === after;
  if (!isThere && (text === undefined ? null : hashOf(text)) !== before) {
    throw new AgentError("ERR_AGENT_CONFLICT", `${path} was changed since it was read`, { path });
  }
  return { isThere, text };
}
