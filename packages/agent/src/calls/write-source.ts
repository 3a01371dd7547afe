import { isObject } from "@fetchwork/kit";
import { AgentError } from "../errors.ts";
import { applyEdit } from "../files/apply-edits.ts";
import { extractCode } from "../files/extract-code.ts";
import { isRefusal } from "../files/find-refusal.ts";
import { findElisions } from "../files/find-elisions.ts";
import { findSyntaxErrors } from "../check/find-syntax-errors.ts";
import type { ChatMessage } from "../models/model-provider.ts";
import { askByTool, type AnswerForm } from "./ask-by-tool.ts";
import type { AskOptions, Question, ToolCall } from "./ask-model.ts";
import { fileMessages, repairFileTool, writeFileTool, type FilePromptInput } from "./prompts.ts";

/**
 * Asks for a file of a planned program, as {@link writeSource}.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export function writePlannedFile(
  input: Omit<FilePromptInput, "complaints">,
  options: AskOptions,
): Promise<string> {
  const messagesFor = (complaints: readonly string[], form: AnswerForm): readonly ChatMessage[] =>
    fileMessages({ ...input, complaints }, form);
  return writeSource(input.filePath, messagesFor, options);
}

/**
 * Asks for a file until its source is whole: not cut, without places that were left out, and of
 * valid syntax where we can tell. A model with tools is made to call `write_file`, whose content is
 * the source; from the text of others it is extracted. The model is told what is wrong with an
 * answer, twice at most. A file that only marks its folder, such as `__init__.py`, may be empty.
 *
 * @param old the file as it is: a model with tools is made to call `repair_file`, which may edit it
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export async function writeSource(
  filePath: string,
  messagesFor: (complaints: readonly string[], form: AnswerForm) => readonly ChatMessage[],
  options: AskOptions,
  old?: string,
): Promise<string> {
  const tool = old === undefined ? writeFileTool : repairFileTool;
  let form: AnswerForm | undefined;
  const complaints: string[] = [];
  const mayBeEmpty = marks.test(filePath);
  const questionFor = (by: AnswerForm): Question => ({
    messages: messagesFor(complaints, by),
    mayBeEmpty,
    ...(by === "tool" && { tool, shown: "content" }),
  });
  for (;;) {
    const answer = await askByTool(questionFor, options, form);
    const { code, fault } =
      answer.toolCalls.length > 0
        ? sourceOfCalls(answer.toolCalls, old)
        : sourceOfText(answer.text, filePath);
    if (fault === faultTexts.empty && mayBeEmpty) return "";
    const complaint = isRefusal(code)
      ? "it was a refusal and no file"
      : (fault ?? (await complaintAbout(code, filePath)));
    if (complaint === undefined) return code;
    if (complaints.length === 2) {
      throw new AgentError(
        "ERR_AGENT_UNUSABLE",
        `no answer was a whole ${filePath}: ${complaint}`,
        { path: filePath },
      );
    }
    complaints.push(complaint);
    form = answer.toolCalls.length > 0 ? "tool" : "text";
  }
}

interface Source {
  readonly code: string;
  /** Why it is not a file. */
  readonly fault?: string | undefined;
}

/** The content of the call, or what its edits make; some models repeat the call. */
function sourceOfCalls(calls: readonly ToolCall[], old: string | undefined): Source {
  const [given = "", ...others] = new Set(calls.map((call) => call.arguments));
  if (others.length > 0) return { code: "", fault: faultTexts.ambiguous };
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    // Nothing is repaired here: what was cut would become a file.
  }
  const { content: code, edits } = isObject(value) ? value : {};
  if (old !== undefined && code === undefined && Array.isArray(edits) && edits.length > 0) {
    return sourceOfEdits(edits, old);
  }
  if (typeof code !== "string") return { code: "", fault: "the call had no JSON with the content" };
  if (code.trim() === "") return { code: "", fault: faultTexts.empty };
  return { code: code.endsWith("\n") ? code : `${code}\n` };
}

function sourceOfEdits(edits: readonly unknown[], old: string): Source {
  let code = old;
  for (const edit of edits) {
    const { search, replace } = isObject(edit) ? edit : {};
    if (typeof search !== "string" || typeof replace !== "string") {
      return { code: "", fault: "an edit in it was not whole" };
    }
    const outcome = applyEdit(code, search, replace);
    if (!outcome.ok) return { code: "", fault: `an edit did not fit the file (${outcome.kind})` };
    code = outcome.text;
  }
  return { code };
}

function sourceOfText(text: string, filePath: string): Source {
  const { code, from, problem } = extractCode(text, filePath);
  // Thoughts that have no end are no empty file.
  const isCut = problem === "empty" && from === "answer" && !saysNothing.test(text);
  const fault = isCut ? faultTexts.unclosed : problem && faultTexts[problem];
  return { code: isRefusal(text) ? text : code, fault };
}

/** Files that are there for their names; most of them are empty. */
const marks = /(?:^|\/)(?:__init__\.pyi?|py\.typed|\.gitkeep|\.keep|\.nojekyll)$/;

/** No text, but for thoughts that have ended. */
const saysNothing = /(?:^|<\/think(?:ing)?>)\s*$/;

const faultTexts = {
  empty: "the file was empty",
  unclosed: "the file was cut before its end",
  ambiguous: "there were several files in the answer",
} as const;

/** Fault of a source, worded for the model; undefined: none was found. */
export async function complaintAbout(code: string, filePath: string): Promise<string | undefined> {
  const [elision] = findElisions(code, filePath);
  if (elision !== undefined) {
    return `line ${elision.line} stands for code that was left out ("${elision.text}"); write all of it`;
  }
  const [fault] = await findSyntaxErrors(filePath, code);
  return fault === undefined ? undefined : `line ${fault.line}: ${fault.message}`;
}
