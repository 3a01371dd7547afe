import { isObject } from "@fetchwork/kit";
import type { AskOptions } from "../calls/ask-model.ts";
import { askStructured, Complaint } from "../calls/ask-structured.ts";
import { editMessages, editTool } from "../calls/prompts.ts";
import { describeDiagnostic } from "../check/diagnostic.ts";
import { applyEdits, type Edit } from "../files/apply-edits.ts";
import { validateFilePath, validateFilePaths } from "../files/file-path.ts";
import { findElisions } from "../files/find-elisions.ts";
import { filesToShow } from "../project/files-to-show.ts";
import { holdsSecret, mayBeSecret } from "../project/secret-files.ts";
import type { ChangeCheck } from "./change-check.ts";

/** Tokens of the program in the question. */
const maxTokens = 40_000;

/**
 * Asks a model that knows no tools for all edits in one answer. Files are shown to it as far as
 * there is room. It is told new faults, twice.
 *
 * @returns every file as it is then
 */
export async function editAtOnce(
  request: string,
  before: ReadonlyMap<string, string>,
  check: ChangeCheck,
  options: AskOptions,
): Promise<ReadonlyMap<string, string>> {
  const messages = editMessages(request, await filesToShow(before, { maxTokens, about: request }));
  const read = (value: unknown): ReturnType<typeof judgeEdits> | Complaint => {
    const edits = readEdits(value);
    return edits instanceof Complaint ? edits : judgeEdits(edits, before, check);
  };
  return askStructured({ messages, tool: editTool, read, attempts: 3 }, options);
}

async function judgeEdits(
  edits: readonly Edit[],
  before: ReadonlyMap<string, string>,
  check: ChangeCheck,
): Promise<ReadonlyMap<string, string> | Complaint> {
  const { refused } = validateFilePaths([...before.keys(), ...edits.map(({ path }) => path)]);
  const wrong = refused.find(({ path }) => !before.has(path));
  if (wrong !== undefined) {
    return new Complaint(`The path ${wrong.path} cannot be written: ${wrong.reason}.`);
  }
  const outcome = applyEdits(before, edits);
  if (!outcome.ok) {
    const reasons = outcome.problems.map(({ index, path, kind, nearest }) => {
      const isHidden = mayBeSecret(path) || holdsSecret(before.get(path) ?? "");
      const hint = nearest === "" || isHidden ? "" : `; most like it is:\n${nearest}`;
      return `edit ${index + 1} of ${path}: ${kind}${hint}`;
    });
    return new Complaint(reasons.join("\n"));
  }
  for (const [path, text] of outcome.files) {
    const [elision] = before.get(path) === text ? [] : findElisions(text, path);
    if (elision !== undefined && !(before.get(path) ?? "").includes(elision.text)) {
      return new Complaint(`${path} leaves out code on line ${elision.line}`);
    }
  }
  const fresh = await check.withoutRunning(outcome.files);
  if (fresh.length === 0) return outcome.files;
  const faults = fresh.slice(0, 20).map(describeDiagnostic).join("\n");
  return new Complaint(`It makes new faults:\n${faults}`);
}

function readEdits(value: unknown): readonly Edit[] | Complaint {
  const list = isObject(value) && "edits" in value ? value["edits"] : value;
  if (!Array.isArray(list) || list.length === 0) return new Complaint("It is not a list of edits.");
  const edits: Edit[] = [];
  for (const entry of list as readonly unknown[]) {
    if (!isObject(entry) || !("path" in entry)) return new Complaint("An edit has no path.");
    const { path: named, content, search, replace } = entry;
    const path = validateFilePath(String(named));
    const shown = String(named).slice(0, 100);
    if (!path.ok) return new Complaint(`The path ${shown} cannot be written: ${path.reason}.`);
    if (typeof search === "string" && typeof replace === "string")
      edits.push({ path: path.path, search, replace });
    else if (typeof content === "string") edits.push({ path: path.path, content });
    else
      return new Complaint(`The edit of ${path.path} has neither search and replace nor content.`);
  }
  return edits;
}
