import { AgentError, cancelled } from "../errors.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { whileLocked } from "../workspace/file-lock.ts";
import {
  hashOf,
  ProjectWriter,
  writeLock,
  written,
  type ProposedChange,
  type WrittenFile,
} from "../workspace/project-writer.ts";
import type { AgentSettings } from "./agent-options.ts";
import type { Emit } from "./run-handle.ts";
import type { RecordStep, RunState, WriteIntent } from "./run-state.ts";

/** Parts that writing needs. */
export interface WritingParts {
  readonly settings: AgentSettings;
  readonly record: RecordStep;
  readonly intents: RunState["intents"];
  readonly signal: AbortSignal;
  readonly emit: Emit;
}

/** Files that are written at the same time. */
const groupSize = 16;

/** A file that is decided about and not yet written. */
interface Pending {
  readonly change: ProposedChange;
  readonly text: string;
  /** Whether it has to stand in the journal before it happens. */
  readonly isIntended: boolean;
  /** Record of the file when it is not written. */
  readonly skipped?: WrittenFile | undefined;
}

/** Writes files in parallel: each intention is recorded first, so that it happens once. */
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
  if (onConflict === "fail") {
    // Nothing is written when one of them conflicts.
    for (const [path, text] of contents) if (!intents.has(path)) await writer.propose(path, text);
  }
  const files: WrittenFile[] = [];
  let group: Pending[] = [];
  const flush = async (): Promise<void> => {
    const pending = group;
    group = [];
    const intended = pending.filter(({ isIntended }) => isIntended);
    // They share one write of the journal, and the disk is asked to sync several files at a time.
    await Promise.all(intended.map(({ change }) => record("write", intentOf(change))));
    const applied = await Promise.allSettled(
      pending.map(async ({ change, text, skipped }) => skipped ?? writer.apply(change, text)),
    );
    for (const [index, outcome] of applied.entries()) {
      // Written files are reported, also where another file of the group failed.
      if (outcome.status === "rejected") continue;
      const { path, action, beside } = outcome.value;
      files.push(outcome.value);
      emit({ type: "written", path, action, beside: pending[index]?.change.beside ?? beside });
    }
    for (const outcome of applied) if (outcome.status === "rejected") throw outcome.reason;
  };
  const decide = async (path: string, text: string): Promise<Pending> => {
    const intent = intents.get(path);
    const here = intent === undefined ? undefined : await folder.read(path);
    if (intent !== undefined && here !== undefined && hashOf(here) === intent.after) {
      await folder.clean(path);
      const action = actionOf(intent.action);
      const change = { path, action, before: here, after: here, beside: intent.beside };
      return { change, text, isIntended: false };
    }
    const change = await writer.propose(path, text);
    const decision =
      change.action === "unchanged" ? "apply" : ((await approve?.(change)) ?? "apply");
    if (decision === "abort") {
      throw new AgentError("ERR_AGENT_CANCELLED", `the change of ${path} was not approved`, {
        path,
      });
    }
    if (decision === "apply") return { change, text, isIntended: true };
    const skipped = written(path, "skipped", change.before ?? "");
    return { change, text, isIntended: false, skipped };
  };
  for (const [path, text] of contents) {
    if (signal.aborted) throw cancelled(signal);
    let pending = await decide(path, text);
    // A file put next to another is written alone: the group may have a file of the same name.
    const isAlone = pending.change.beside !== undefined;
    if (isAlone && group.length > 0) {
      await flush();
      if (pending.isIntended) pending = { ...pending, change: await writer.propose(path, text) };
    }
    group.push(pending);
    if (isAlone || group.length === groupSize || approve !== undefined) await flush();
  }
  await flush();
  await writer.finish();
  return files;
}

function intentOf({ path, action, after, beside }: ProposedChange): WriteIntent & {
  readonly path: string;
} {
  return { path, action, after: hashOf(after), beside };
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
