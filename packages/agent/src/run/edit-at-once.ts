import type { AskOptions } from "../calls/ask-model.ts";
import { askStructured, Complaint } from "../calls/ask-structured.ts";
import { editMessages, editTool, type ContextFile } from "../calls/prompts.ts";
import { describeDeclarations } from "../check/describe-declarations.ts";
import { describeDiagnostic } from "../check/diagnostic.ts";
import { AgentError } from "../errors.ts";
import { applyEdits, type Edit } from "../files/apply-edits.ts";
import { validateFilePath, validateFilePaths } from "../files/file-path.ts";
import { findElisions } from "../files/find-elisions.ts";
import { holdsSecret, mayBeSecret } from "../project/secret-files.ts";
import type { ChangeCheck } from "./change-check.ts";

/** Characters of all files that are shown whole; more are shown as what they declare. */
const shown = 120_000;

/**
 * Asks a model that knows no tools for all edits in one answer, from files that are shown as far as there is room. New
 * faults are told to it, twice.
 *
 * @returns every file as it is then
 */
export async function editAtOnce(
  request: string,
  before: ReadonlyMap<string, string>,
  check: ChangeCheck,
  options: AskOptions,
): Promise<ReadonlyMap<string, string>> {
  const messages = editMessages(request, await shownFiles(before), undefined);
  return askEdits(messages, (edits) => judgeEdits(edits, before, check), options);
}

async function judgeEdits(
  edits: readonly Edit[],
  before: ReadonlyMap<string, string>,
  check: ChangeCheck,
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
        `edit ${index + 1} of ${path}: ${kind}${nearest === "" || isSecret(path, before.get(path)) ? "" : `; most like it is:\n${nearest}`}`,
    );
    return new Complaint(reasons.join("\n"));
  }
  for (const [path, text] of outcome.files) {
    const [elision] = before.get(path) === text ? [] : findElisions(text, path);
    if (elision !== undefined && !(before.get(path) ?? "").includes(elision.text)) {
      return new Complaint(`${path} leaves out code on line ${elision.line}`);
    }
  }
  const found = await check.withoutRunning(outcome.files);
  const fresh = found.filter(({ severity }) => severity === "error");
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
  if (!Array.isArray(list) || list.length === 0) return new Complaint("It is not a list of edits.");
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
    if (isSecret(path, source)) {
      result.push({ path, form: "declarations", text: "It holds secrets, and is not shown." });
      continue;
    }
    const isWhole = source.length <= room;
    const text = isWhole ? source : await describeDeclarations(path, source, 2_000);
    room -= text.length;
    if (room > -shown) result.push({ path, form: isWhole ? "text" : "declarations", text });
  }
  return result;
}

function isSecret(path: string, source = ""): boolean {
  return mayBeSecret(path) || holdsSecret(source);
}
