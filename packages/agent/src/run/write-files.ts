import { AgentError, cancelled } from "../errors.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { whileLocked } from "../workspace/file-lock.ts";
import {
  hashOf,
  ProjectWriter,
  writeLock,
  written,
  type WrittenFile,
} from "../workspace/project-writer.ts";
import type { AgentSettings } from "./agent-options.ts";
import type { Emit } from "./run-handle.ts";
import type { RecordStep, RunState } from "./run-state.ts";

/** What writing needs. */
export interface WritingParts {
  readonly settings: AgentSettings;
  readonly record: RecordStep;
  readonly intents: RunState["intents"];
  readonly signal: AbortSignal;
  readonly emit: Emit;
}

/** Writes files one after another: what is about to happen is written down first, so that it happens once. */
export function writeFiles(
  contents: ReadonlyMap<string, string>,
  folder: ConfinedFolder,
  parts: WritingParts,
): Promise<readonly WrittenFile[]> {
  const lock = { path: writeLock, signal: parts.signal };
  return whileLocked(folder, lock, () => writeAll(contents, folder, parts));
}

async function writeAll(
  contents: ReadonlyMap<string, string>,
  folder: ConfinedFolder,
  { settings, record, intents, signal, emit }: WritingParts,
): Promise<readonly WrittenFile[]> {
  const { onConflict, approve } = settings;
  const writer = await ProjectWriter.open(folder, onConflict);
  const files: WrittenFile[] = [];
  if (onConflict === "fail") {
    // Nothing is written when one of them is in the way.
    for (const [path, text] of contents) if (!intents.has(path)) await writer.propose(path, text);
  }
  for (const [path, text] of contents) {
    if (signal.aborted) throw cancelled(signal);
    const intent = intents.get(path);
    const here = intent === undefined ? undefined : await folder.read(path);
    if (intent !== undefined && here !== undefined && hashOf(here) === intent.after) {
      const change = { path, before: here, after: here, beside: intent.beside };
      const action = actionOf(intent.action);
      files.push(await writer.apply({ ...change, action }, text));
      emit({ type: "written", path, action, beside: intent.beside });
      continue;
    }
    const change = await writer.propose(path, text);
    const decision =
      change.action === "unchanged" ? "apply" : ((await approve?.(change)) ?? "apply");
    if (decision === "abort") {
      throw new AgentError("ERR_AGENT_CANCELLED", `the change of ${path} was not approved`, {
        path,
      });
    }
    if (decision === "skip") {
      files.push(written(path, "skipped", change.before ?? ""));
      emit({ type: "written", path, action: "skipped" });
      continue;
    }
    const { action, after, beside } = change;
    await record("write", { path, action, after: hashOf(after), beside });
    files.push(await writer.apply(change, text));
    emit({ type: "written", path, action, beside });
  }
  await writer.finish();
  return files;
}

const actions = [
  "created",
  "updated",
  "unchanged",
  "merged",
  "kept",
  "conflict",
  "overwritten",
] as const;

function actionOf(text: string): WrittenFile["action"] {
  return actions.find((action) => action === text) ?? "updated";
}
