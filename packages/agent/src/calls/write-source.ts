import { AgentError } from "../errors.ts";
import { extractCode } from "../files/extract-code.ts";
import { isRefusal } from "../files/find-refusal.ts";
import { findElisions } from "../files/find-elisions.ts";
import { findSyntaxErrors } from "../check/find-syntax-errors.ts";
import type { ChatMessage } from "../models/model-provider.ts";
import { addUsage, askModel, type AskOptions } from "./ask-model.ts";
import type { Usage } from "./budget.ts";

/** The source of a file, and what it took. */
export interface WrittenSource {
  readonly code: string;
  readonly usage: Usage;
}

/**
 * Asks for a file until its source is whole: extracted, not cut, without places that were left out, and of valid
 * syntax where we can tell. What is wrong with an answer is told to the model, twice at most. A file that only marks its
 * folder, such as `__init__.py`, may be empty.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export async function writeSource(
  filePath: string,
  messagesFor: (complaints: readonly string[]) => readonly ChatMessage[],
  options: AskOptions,
): Promise<WrittenSource> {
  let usage: Usage = { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 };
  const complaints: string[] = [];
  const mayBeEmpty = marks.test(filePath);
  for (;;) {
    const messages = messagesFor(complaints);
    const answer = await askModel({ messages, mayBeEmpty }, options);
    usage = addUsage(usage, answer.usage);
    const { code, from, problem } = extractCode(answer.text, filePath);
    if (mayBeEmpty && problem === "empty" && (from === "fence" || saysNothing.test(answer.text))) {
      return { code: "", usage };
    }
    const fault = problem === undefined ? await complaintAbout(code, filePath) : said[problem];
    const complaint = isRefusal(answer.text) ? "it was a refusal and no file" : fault;
    if (complaint === undefined) return { code, usage };
    if (complaints.length === 2) {
      throw new AgentError(
        "ERR_AGENT_UNUSABLE",
        `no answer was a whole ${filePath}: ${complaint}`,
        { path: filePath },
      );
    }
    complaints.push(complaint);
  }
}

/** Files that are there for their names; most of them are empty. */
const marks = /(?:^|\/)(?:__init__\.pyi?|py\.typed|\.gitkeep|\.keep|\.nojekyll)$/;

/** No text, but for thoughts that have ended. */
const saysNothing = /(?:^|<\/think(?:ing)?>)\s*$/;

const said = {
  empty: "the file was empty",
  unclosed: "the file was cut before its end",
  ambiguous: "there were several files in the answer",
} as const;

/** What is wrong with a source, said to the model; undefined: nothing that we can tell. */
export async function complaintAbout(code: string, filePath: string): Promise<string | undefined> {
  const [elision] = findElisions(code, filePath);
  if (elision !== undefined) {
    return `line ${elision.line} stands for code that was left out ("${elision.text}"); write all of it`;
  }
  const [fault] = await findSyntaxErrors(filePath, code);
  return fault === undefined ? undefined : `line ${fault.line}: ${fault.message}`;
}
