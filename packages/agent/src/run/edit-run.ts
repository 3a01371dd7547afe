import type { AskOptions } from "../calls/ask-model.ts";
import { askStructured, Complaint } from "../calls/ask-structured.ts";
import { Budget, type Usage } from "../calls/budget.ts";
import { withProvider } from "../calls/call-options.ts";
import { editMessages, editTool, type ContextFile } from "../calls/prompts.ts";
import { checkConsistency } from "../check/check-consistency.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import { describeDiagnostic } from "../check/diagnostic.ts";
import { findElisions } from "../files/find-elisions.ts";
import { applyEdits, type Edit } from "../files/apply-edits.ts";
import { validateFilePath } from "../files/file-path.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { verifyFiles } from "../verify/verify-files.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { hashOf, written, type WrittenFile } from "../workspace/project-writer.ts";
import { AgentError, cancelled } from "../errors.ts";
import type { RunResult } from "./agent-event.ts";
import type { AgentSettings } from "./agent-options.ts";
import type { Emit } from "./run-handle.ts";
import { fingerprints } from "./repair-files.ts";
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
  readonly dryRun: boolean;
}

/** Changes a program by edits that apply exactly: all of them, or none. New faults are told to the model, once. */
export async function runEdit(parts: EditRunParts): Promise<RunResult> {
  const { runId, request, settings, emit, signal, folder, dryRun } = parts;
  const before = await readProjectFiles(folder, settings);
  const budget = new Budget(settings.budget);
  const options: AskOptions = withProvider({
    ...settings,
    budget,
    signal,
    onUsage: undefined as ((usage: Usage) => void) | undefined,
    onRetry: ({ attempt, delay, error: { code, message } }) =>
      emit({ type: "retry", step: "edit", attempt, delay, code, message }),
  });
  emit({ type: "step", step: "edit" });
  const known = fingerprints(await checkConsistency(before));
  const messages = editMessages(request, await shownFiles(before), undefined);
  const read = async (value: unknown): Promise<ReadonlyMap<string, string> | Complaint> => {
    const edits = readEdits(value);
    if (edits instanceof Complaint) return edits;
    const outcome = applyEdits(before, edits);
    if (!outcome.ok) {
      const reasons = outcome.problems.map(
        ({ index, path, kind, nearest }) =>
          `edit ${index + 1} of ${path}: ${kind}${nearest === "" ? "" : `; most like it is:\n${nearest}`}`,
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
    const fresh = found.filter(
      (one) => one.severity === "error" && !known.has(`${one.path} ${one.code} ${one.message}`),
    );
    return fresh.length === 0
      ? outcome.files
      : new Complaint(
          `It makes new faults:\n${fresh.slice(0, 20).map(describeDiagnostic).join("\n")}`,
        );
  };
  const { value: after } = await askEdits(messages, read, options);
  emit({ type: "step", step: "verify", round: 0 });
  const { verifiers = [] } = settings;
  const sandbox = verifiers.length === 0 ? undefined : await createSandbox(settings.sandbox);
  const run = sandbox === undefined ? undefined : { verifiers, sandbox, signal };
  const diagnostics = await verifyFiles(after, undefined, run);
  emit({ type: "checked", round: 0, diagnostics, level: sandbox?.level });
  const changed = new Map([...after].filter(([path, text]) => before.get(path) !== text));
  const files = dryRun
    ? [...changed].map(([path, text]) => written(path, "skipped", text))
    : await writeChanges(changed, before, parts);
  const ok = fingerprints(diagnostics).size === 0;
  const plan = { sharedDeps: "", files: [] };
  const usage = budget.usage;
  const level = sandbox?.level;
  return {
    runId,
    out: folder.root,
    ok,
    plan,
    files,
    contents: changed,
    diagnostics,
    repairs: 0,
    usage,
    sandbox: level,
  };
}

/** The check of an answer takes time; `askStructured` wants it at once. So the answer is read first and judged here. */
async function askEdits(
  messages: ReturnType<typeof editMessages>,
  read: (value: unknown) => Promise<ReadonlyMap<string, string> | Complaint>,
  options: AskOptions,
): Promise<{ readonly value: ReadonlyMap<string, string> }> {
  let asked = messages;
  for (let attempt = 1; ; attempt += 1) {
    const question = {
      messages: asked,
      tool: editTool,
      read: (value: unknown) => readEdits(value),
    };
    const { value: edits } = await askStructured(question, options);
    const result = await read({ edits });
    if (!(result instanceof Complaint)) return { value: result };
    if (attempt === 3) {
      throw new AgentError(
        "ERR_AGENT_UNUSABLE",
        `no answer could be applied: ${result.text.split("\n")[0]}`,
      );
    }
    const content = `# Earlier answer\n\nIt could not be used:\n${result.text}\n\nAnswer again, completely.`;
    asked = [...messages, { role: "user", content }];
  }
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
    const isWhole = source.length <= room;
    const text = isWhole ? source : await describeDeclarations(path, source, 2_000);
    room -= text.length;
    if (room > -shown) result.push({ path, form: isWhole ? "text" : "declarations", text });
  }
  return result;
}

/** The base of an edit is what was read: a file that somebody changed meanwhile is not overwritten. */
async function writeChanges(
  changed: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
  { folder, settings, signal, emit }: EditRunParts,
): Promise<readonly WrittenFile[]> {
  const { approve } = settings;
  const files: WrittenFile[] = [];
  for (const [path, after] of changed) {
    if (signal.aborted) throw cancelled(signal);
    const old = before.get(path);
    const action = old === undefined ? "created" : "updated";
    const change = { path, action, before: old, after, beside: undefined } as const;
    const decision = (await approve?.(change)) ?? "apply";
    if (decision === "abort")
      throw new AgentError("ERR_AGENT_CANCELLED", `the change of ${path} was not approved`);
    const now = await folder.read(path);
    if (now !== old)
      throw new AgentError("ERR_AGENT_CONFLICT", `${path} was changed meanwhile`, { path });
    if (decision === "apply") {
      if (old !== undefined) await folder.write(`.fetchwork/replaced/${hashOf(old)}`, old);
      await folder.write(path, after);
    }
    const done = decision === "apply" ? action : "skipped";
    files.push(written(path, done, decision === "apply" ? after : (old ?? "")));
    emit({ type: "written", path, action: done });
  }
  return files;
}
