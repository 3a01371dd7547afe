import { refusesTools } from "../calls/ask-by-tool.ts";
import { Budget } from "../calls/budget.ts";
import { fingerprints } from "../check/diagnostic.ts";
import { cancelled } from "../errors.ts";
import { changedPaths } from "../files/changed-paths.ts";
import { withMcpTools } from "../loop/mcp-tools.ts";
import { lastWords } from "../loop/run-loop.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { commitRun } from "../workspace/commit-run.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { listFiles } from "../workspace/list-files.ts";
import { hashOf } from "../workspace/project-writer.ts";
import type { RunResult } from "./agent-event.ts";
import { ChangeCheck } from "./change-check.ts";
import { checkGrowth } from "./check-limits.ts";
import { editAtOnce } from "./edit-at-once.ts";
import { editWithTools, type EditedProgram, type ProgramBefore } from "./edit-with-tools.ts";
import { readProjectFiles } from "./read-project-files.ts";
import type { ImagePart } from "./read-images.ts";
import type { EditChange, RunState } from "./run-state.ts";
import { stepOptions, type StepParts } from "./step-options.ts";
import { fileOf, writeChanges } from "./write-changes.ts";

/** Parts of an edit. */
export interface EditRunParts extends StepParts {
  readonly runId: string;
  readonly request: string;
  readonly folder: ConfinedFolder;
  readonly state: RunState;
  readonly dryRun: boolean;
  /** Pictures for the model. Default: those of the journal. */
  readonly images?: readonly ImagePart[] | undefined;
  /** The run whose conversation goes on. Default: that of the journal. */
  readonly continues?: string | undefined;
  /** Whether the files are committed. Default: what the journal says. */
  readonly commit?: boolean | undefined;
  /** Whether the model may change nothing. Default: `false`. */
  readonly mayOnlyAnswer?: boolean | undefined;
  /** Default: one of the settings. */
  readonly budget?: Budget | undefined;
  /** Whether files may be removed and moved. Default: `true`. */
  readonly canRemove?: boolean | undefined;
}

/**
 * Changes a program: all changes, or none. Faults that were there before are none of the edit. All
 * that is to be written is in the journal before anything is.
 */
export async function runEdit(parts: EditRunParts): Promise<RunResult> {
  const { runId, request, settings, emit, signal, folder, state, record, dryRun } = parts;
  const resumed = state.prompt !== undefined;
  const { commit: isCommitted = state.commit } = parts;
  emit({ type: "started", runId, resumed });
  const { images = state.images, continues = state.continues } = parts;
  if (!resumed) {
    const start = { prompt: request, kind: "edit", commit: isCommitted, continues } as const;
    await record("start", { ...start, ...(images.length > 0 && { images }) });
  }
  const unread = new Set<string>();
  const onUnread = (path: string): void => void unread.add(path);
  const list = await listFiles(folder.root);
  const read = await readProjectFiles(folder, { maxFiles: settings.maxFiles, onUnread, list });
  const before = await asItWas(read, state.changes ?? [], folder);
  const { budget = new Budget(settings.budget) } = parts;
  budget.restore(state.usage, state.charged);
  const { verifiers = [] } = settings;
  const sandbox = verifiers.length === 0 ? undefined : await createSandbox(settings.sandbox);
  const run = sandbox && { verifiers, sandbox, signal: budget.within(signal), from: folder.root };
  const check = new ChangeCheck(before, run);
  const edited =
    state.changes === undefined
      ? await editProgram(
          { ...parts, images, continues },
          { list, before, unread, check, sandbox },
          budget,
        )
      : await checked(asChanged(before, state.changes), parts, check);
  const changes = state.changes ?? changesOf(before, edited.files);
  const changed = new Map(
    changes.flatMap(({ path, after }) => (after === null ? [] : [[path, after]])),
  );
  checkGrowth(before, changed, settings);
  if (state.changes === undefined) await record("edit", { changes });
  if (signal.aborted) throw cancelled(signal);
  const files = dryRun
    ? changes.map((change) => ({ ...fileOf(change), action: "skipped" as const }))
    : await writeChanges(changes, parts);
  const { diagnostics, knownErrors, checked: count, unchecked, level } = edited.report;
  const ok = fingerprints(diagnostics).size === 0;
  // A hook that refuses ends it before it is done: then a resumption commits again.
  let commit: string | null | undefined;
  if (isCommitted && !dryRun && !state.finished) {
    const paths = files.filter(({ action }) => action !== "skipped").map(({ path }) => path);
    commit = ok ? await commitRun(folder.root, { runId, request, paths }) : null;
  }
  await record("done", {});
  return {
    runId,
    out: folder.root,
    ok,
    plan: { sharedDeps: "", files: [] },
    summary: edited.summary ?? (state.turns && lastWords(state.turns)),
    files,
    contents: changed,
    diagnostics,
    knownErrors,
    checked: count,
    unchecked,
    repairs: edited.repairs,
    usage: budget.usage,
    commit,
    sandbox: level,
  };
}

/** By tools where the model has them; in one answer where its server refuses tools. */
async function editProgram(
  parts: EditRunParts,
  program: ProgramBefore,
  budget: Budget,
): Promise<EditedProgram> {
  const { request, settings, emit, signal, state } = parts;
  const options = stepOptions(parts, budget, { step: "edit" });
  emit({ type: "step", step: "edit" });
  const paid = budget.usage.calls;
  try {
    return await withMcpTools(settings.mcp, signal, (mcpTools) =>
      editWithTools(parts, { ...program, mcpTools }, options),
    );
  } catch (error) {
    const isFirst = budget.usage.calls === paid && state.answers.size === 0;
    if (!isFirst || !refusesTools(error)) throw error;
  }
  const files = await editAtOnce(request, program.before, program.check, options);
  return checked(files, parts, program.check);
}

async function checked(
  files: ReadonlyMap<string, string>,
  { emit }: EditRunParts,
  check: ChangeCheck,
): Promise<EditedProgram> {
  return { files, report: await check.round(0, files, emit), repairs: 0 };
}

function changesOf(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly EditChange[] {
  return changedPaths(before, after).map((path) => {
    const old = before.get(path);
    return { path, before: old === undefined ? null : hashOf(old), after: after.get(path) ?? null };
  });
}

function asChanged(
  before: ReadonlyMap<string, string>,
  changes: readonly EditChange[],
): ReadonlyMap<string, string> {
  const files = new Map(before);
  for (const { path, after } of changes) {
    if (after === null) files.delete(path);
    else files.set(path, after);
  }
  return files;
}

/** The program before an edit of which an earlier process has written some files, or all. */
async function asItWas(
  read: ReadonlyMap<string, string>,
  changes: readonly EditChange[],
  folder: ConfinedFolder,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map(read);
  for (const { path, before, after } of changes) {
    if ((files.get(path) ?? null) !== after) continue;
    const text = before === null ? undefined : await folder.read(`.fetchwork/replaced/${before}`);
    if (text !== undefined) files.set(path, text);
    else if (before === null) files.delete(path);
  }
  return files;
}
