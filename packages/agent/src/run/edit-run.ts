import type { AskOptions } from "../calls/ask-model.ts";
import { askStructured, Complaint } from "../calls/ask-structured.ts";
import { Budget, type Usage } from "../calls/budget.ts";
import { withProvider } from "../calls/call-options.ts";
import { editMessages, editTool, type ContextFile } from "../calls/prompts.ts";
import { checkConsistency } from "../check/check-consistency.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import {
  describeDiagnostic,
  fingerprintOf,
  fingerprints,
  type Diagnostic,
} from "../check/diagnostic.ts";
import { findElisions } from "../files/find-elisions.ts";
import { applyEdits, type Edit } from "../files/apply-edits.ts";
import { validateFilePath, validateFilePaths } from "../files/file-path.ts";
import { mayBeSecret } from "../project/secret-files.ts";
import { coverageOf } from "../verify/coverage.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { levelFor, verifyFiles, type VerifyFilesOptions } from "../verify/verify-files.ts";
import { takeCheckpoint } from "../workspace/checkpoint.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { whileLocked } from "../workspace/file-lock.ts";
import { hashOf, writeLock, written, type WrittenFile } from "../workspace/project-writer.ts";
import { AgentError, cancelled } from "../errors.ts";
import type { RunResult } from "./agent-event.ts";
import type { AgentSettings } from "./agent-options.ts";
import { checkGrowth } from "./check-limits.ts";
import type { Emit } from "./run-handle.ts";
import type { EditChange, RecordStep, RunState } from "./run-state.ts";
import { readProjectFiles } from "./read-project-files.ts";

/** Characters of all files that are shown whole; more are shown as what they declare. */
const shown = 120_000;

/** What an edit is made of. */
export interface EditRunParts {
  readonly runId: string;
  readonly request: string;
  readonly settings: AgentSettings;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly folder: ConfinedFolder;
  readonly state: RunState;
  readonly record: RecordStep;
  readonly dryRun: boolean;
  /** Default: one of the settings. */
  readonly budget?: Budget | undefined;
}

/**
 * Changes a program by edits that apply exactly: all of them, or none. New faults are told to the model, twice; faults that
 * were there before are none of the edit. The answer is in the journal before anything is written.
 */
export async function runEdit(parts: EditRunParts): Promise<RunResult> {
  const { runId, request, settings, emit, signal, folder, state, record, dryRun } = parts;
  const resumed = state.prompt !== undefined;
  emit({ type: "started", runId, resumed });
  if (!resumed) await record("start", { prompt: request, kind: "edit" });
  const read = await readProjectFiles(folder, settings);
  const before = await asItWas(read, state.changes ?? [], folder);
  const known = fingerprints(await checkConsistency(before));
  const { budget = new Budget(settings.budget) } = parts;
  budget.restore(state.usage, state.charged);
  const changes = state.changes ?? (await askForChanges(parts, { before, known, budget }));
  if (state.changes === undefined) await record("edit", { changes });
  const changed = new Map(changes.map(({ path, after }) => [path, after]));
  checkGrowth(before, changed, settings);
  emit({ type: "step", step: "verify", round: 0 });
  const { verifiers = [] } = settings;
  const sandbox = verifiers.length === 0 ? undefined : await createSandbox(settings.sandbox);
  const run =
    sandbox === undefined
      ? undefined
      : { verifiers, sandbox, signal: budget.within(signal), from: folder.root, changed, known };
  const contents = new Map([...before, ...changed]);
  const found = await verifyFiles(contents, undefined, run);
  const old = await knownFaults(found, { before, known, run });
  const diagnostics = found.filter((one) => !isKnown(one, old));
  const knownErrors = fingerprints(found).size - fingerprints(diagnostics).size;
  const level = levelFor(contents, run);
  const coverage = coverageOf(changed, run?.verifiers, contents);
  emit({ type: "checked", round: 0, diagnostics, knownErrors, ...coverage, level });
  if (signal.aborted) throw cancelled(signal);
  const files = dryRun
    ? changes.map(({ path, after }) => written(path, "skipped", after))
    : await writeChanges(changes, parts);
  await record("done", {});
  return {
    runId,
    out: folder.root,
    ok: fingerprints(diagnostics).size === 0,
    plan: { sharedDeps: "", files: [] },
    files,
    contents: changed,
    diagnostics,
    knownErrors,
    ...coverage,
    repairs: 0,
    usage: budget.usage,
    sandbox: level,
  };
}

/** A program before an edit, and the errors that the check finds in it. */
interface ProgramBefore {
  readonly before: ReadonlyMap<string, string>;
  readonly known: ReadonlySet<string>;
}

/** The program before an edit of which an earlier process has written some files, or all. */
async function asItWas(
  read: ReadonlyMap<string, string>,
  changes: readonly EditChange[],
  folder: ConfinedFolder,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map(read);
  for (const { path, before, after } of changes) {
    if (files.get(path) !== after) continue;
    const text = before === null ? undefined : await folder.read(`.fetchwork/replaced/${before}`);
    if (text !== undefined) files.set(path, text);
    else if (before === null) files.delete(path);
  }
  return files;
}

/** What is wrong without the edit too: what runs the program is asked about that only where it finds something. */
async function knownFaults(
  found: readonly Diagnostic[],
  { before, known, run }: ProgramBefore & { readonly run: VerifyFilesOptions | undefined },
): Promise<ReadonlySet<string>> {
  if (run === undefined || !found.some(({ code }) => code === "verification")) return known;
  return fingerprints(await verifyFiles(before, undefined, run));
}

function isKnown(diagnostic: Diagnostic, known: ReadonlySet<string>): boolean {
  return known.has(fingerprintOf(diagnostic));
}

/** What the model wants to change, judged. */
async function askForChanges(
  { request, settings, emit, signal, record }: EditRunParts,
  { before, known, budget }: ProgramBefore & { readonly budget: Budget },
): Promise<readonly EditChange[]> {
  const options: AskOptions = withProvider({
    ...settings,
    budget,
    signal,
    // The answer that it was for is written down after it.
    onUsage: (usage: Usage) =>
      void record("spent", { usage, charged: budget.charged }).catch(() => undefined),
    onRetry: ({ attempt, delay, error: { code, message } }) =>
      emit({ type: "retry", step: "edit", attempt, delay, code, message }),
  });
  emit({ type: "step", step: "edit" });
  const messages = editMessages(request, await shownFiles(before), undefined);
  const after = await askEdits(messages, (edits) => judgeEdits(edits, before, known), options);
  return [...after].flatMap(([path, text]) => {
    const old = before.get(path);
    if (old === text) return [];
    return [{ path, before: old === undefined ? null : hashOf(old), after: text }];
  });
}

async function judgeEdits(
  edits: readonly Edit[],
  before: ReadonlyMap<string, string>,
  known: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string> | Complaint> {
  const { refused } = validateFilePaths([...before.keys(), ...edits.map(({ path }) => path)]);
  const [wrong] = refused;
  if (wrong !== undefined) {
    return new Complaint(`The path ${wrong.path} cannot be written: ${wrong.reason}.`);
  }
  const outcome = applyEdits(before, edits);
  if (!outcome.ok) {
    const reasons = outcome.problems.map(
      ({ index, path, kind, nearest }) =>
        `edit ${index + 1} of ${path}: ${kind}${nearest === "" || mayBeSecret(path) ? "" : `; most like it is:\n${nearest}`}`,
    );
    return new Complaint(reasons.join("\n"));
  }
  for (const [path, text] of outcome.files) {
    const [elision] = before.get(path) === text ? [] : findElisions(text, path);
    if (elision !== undefined && !(before.get(path) ?? "").includes(elision.text)) {
      return new Complaint(`${path} leaves out code on line ${elision.line}`);
    }
  }
  const found = await checkConsistency(outcome.files);
  const fresh = found.filter((one) => one.severity === "error" && !isKnown(one, known));
  return fresh.length === 0
    ? outcome.files
    : new Complaint(
        `It makes new faults:\n${fresh.slice(0, 20).map(describeDiagnostic).join("\n")}`,
      );
}

/** The check of an answer takes time; `askStructured` wants it at once. So the answer is read first and judged here. */
async function askEdits(
  messages: ReturnType<typeof editMessages>,
  judge: (edits: readonly Edit[]) => Promise<ReadonlyMap<string, string> | Complaint>,
  options: AskOptions,
): Promise<ReadonlyMap<string, string>> {
  let asked = messages;
  for (let attempt = 1; ; attempt += 1) {
    const question = {
      messages: asked,
      tool: editTool,
      read: (value: unknown) => readEdits(value),
    };
    const { value: edits } = await askStructured(question, options);
    const result = await judge(edits);
    if (!(result instanceof Complaint)) return result;
    if (attempt === 3) {
      throw new AgentError(
        "ERR_AGENT_UNUSABLE",
        `no answer could be applied: ${shorten(result.text)}`,
      );
    }
    const content = `# Earlier answer\n\nIt could not be used:\n${result.text}\n\nAnswer again, completely.`;
    asked = [...messages, { role: "user", content }];
  }
}

function shorten(text: string): string {
  return text.length <= 1_000 ? text : `${text.slice(0, 1_000)} …`;
}

function readEdits(value: unknown): readonly Edit[] | Complaint {
  const list =
    typeof value === "object" && value !== null && "edits" in value ? value.edits : value;
  if (!Array.isArray(list) || list.length === 0) return new Complaint("It is no list of edits.");
  const edits: Edit[] = [];
  for (const entry of list as readonly unknown[]) {
    if (typeof entry !== "object" || entry === null || !("path" in entry)) {
      return new Complaint("An edit has no path.");
    }
    const path = validateFilePath(String(entry.path));
    if (!path.ok)
      return new Complaint(
        `The path ${String(entry.path).slice(0, 100)} cannot be written: ${path.reason}.`,
      );
    const content = "content" in entry ? entry.content : undefined;
    const search = "search" in entry ? entry.search : undefined;
    const replace = "replace" in entry ? entry.replace : undefined;
    if (typeof search === "string" && typeof replace === "string")
      edits.push({ path: path.path, search, replace });
    else if (typeof content === "string") edits.push({ path: path.path, content });
    else
      return new Complaint(`The edit of ${path.path} has neither search and replace nor content.`);
  }
  return edits;
}

async function shownFiles(files: ReadonlyMap<string, string>): Promise<readonly ContextFile[]> {
  let room = shown;
  const result: ContextFile[] = [];
  for (const [path, source] of [...files].toSorted(([, a], [, b]) => a.length - b.length)) {
    // A model needs no keys to change a program.
    if (mayBeSecret(path)) continue;
    const isWhole = source.length <= room;
    const text = isWhole ? source : await describeDeclarations(path, source, 2_000);
    room -= text.length;
    if (room > -shown) result.push({ path, form: isWhole ? "text" : "declarations", text });
  }
  return result;
}

/**
 * Writes what is not there yet. The base of an edit is what was read: a file that somebody changed meanwhile is not
 * overwritten, and then no other is written either.
 */
async function writeChanges(
  changes: readonly EditChange[],
  { runId, folder, settings, signal, emit, state }: EditRunParts,
): Promise<readonly WrittenFile[]> {
  const files = changes.map(({ path, before, after }) =>
    written(path, before === null ? "created" : "updated", after),
  );
  // What somebody does with the files afterwards is no business of an edit that is over.
  if (state.finished) return files;
  const checkpoint = await takeCheckpoint(folder, runId);
  const { approve } = settings;
  const result: WrittenFile[] = [];
  const done = (file: WrittenFile): void => {
    result.push(file);
    emit({ type: "written", path: file.path, action: file.action });
  };
  await whileLocked(folder, { path: writeLock, signal }, async () => {
    for (const change of changes) await stateOf(change, folder);
    for (const [index, change] of changes.entries()) {
      if (signal.aborted) throw cancelled(signal);
      const { path, after } = change;
      const file = files[index] ?? written(path, "updated", after);
      const now = await stateOf(change, folder);
      if (now.isThere) {
        await folder.clean(path);
        done(file);
        continue;
      }
      const { text: before } = now;
      const asked = { path, action: file.action, before, after, beside: undefined };
      const decision = (await approve?.(asked)) ?? "apply";
      if (decision === "abort") {
        throw new AgentError("ERR_AGENT_CANCELLED", `the change of ${path} was not approved`);
      }
      if (decision === "skip") {
        done(written(path, "skipped", before ?? ""));
        continue;
      }
      if (approve !== undefined) await stateOf(change, folder);
      await checkpoint.keep(path, after);
      await folder.write(path, after, { isNew: before === undefined });
      done(file);
    }
  });
  return result;
}

/** What is in a file's place: what is to be there, or what was there when the edit was made. Anything else is a conflict. */
async function stateOf(
  { path, before, after }: EditChange,
  folder: ConfinedFolder,
): Promise<{ readonly isThere: boolean; readonly text: string | undefined }> {
  const text = await folder.read(path);
  const isThere = text === after;
  if (!isThere && (text === undefined ? null : hashOf(text)) !== before) {
    throw new AgentError("ERR_AGENT_CONFLICT", `${path} was changed meanwhile`, { path });
  }
  return { isThere, text };
}
