import { AgentError } from "../errors.ts";
import type { ModelTurn } from "../models/model-provider.ts";
import type { Answer, Question } from "./ask-model.ts";

/** An answer whose text may be only its beginning. */
type Part = Pick<Answer, "text" | "toolCalls" | "thoughts" | "isCut">;

/** Questions after the first one, for one text. */
const maxContinuations = 3;

/** Non-blank characters of whole lines that are taken for a repetition. */
const minRepeated = 12;

/**
 * Asks until the text of an answer is whole: what came before a limit of tokens is sent back as the
 * model's, with the request to go on. Each question is asked by `ask`, which may know its answer
 * from before.
 *
 * @throws AgentError `ERR_AGENT_TRUNCATED` as a rejection when it is still cut after three
 * continuations
 */
export async function askToTheEnd<T extends Part>(
  question: Question,
  ask: (question: Question) => Promise<T>,
): Promise<T> {
  // A demanded tool would forbid the text that is to go on.
  const { tool: _, shown: __, turns = [], ...rest } = question;
  let answer = await ask(question);
  for (let count = 0; answer.isCut === true; count += 1) {
    if (count === maxContinuations) {
      throw new AgentError(
        "ERR_AGENT_TRUNCATED",
        `the answer was cut at the limit of its tokens, also after ${count} continuations`,
      );
    }
    const { text } = answer;
    const more: readonly ModelTurn[] = [
      { role: "assistant", content: [{ type: "text", text }] },
      { role: "user", content: [{ type: "text", text: goOn }] },
    ];
    const next = await ask({ ...rest, turns: [...turns, ...more], mayBeEmpty: true });
    answer = { ...next, text: joinTexts(text, next.text) };
  }
  return answer;
}

const goOn =
  "Your answer was cut at the limit of its length. Go on exactly where it ends, with the very next character: repeat nothing, and begin with no introduction and no code fence.";

/** A text and its continuation, without the lines and the fence that the second one repeats. */
export function joinTexts(before: string, after: string): string {
  const isFenced = (before.match(/^[ \t]*```/gm)?.length ?? 0) % 2 === 1;
  const rest = isFenced ? after.replace(/^\s*```[\w+#.-]+\n/, "") : after;
  // The longest repetition comes first; most texts have none.
  for (
    let at = before.lastIndexOf("\n", before.length - rest.length - 1) + 1;
    at < before.length;
    at = before.indexOf("\n", at) + 1 || before.length
  ) {
    const last = before.slice(at);
    // Equal lines would otherwise all be compared to their end.
    if (rest[last.length - 1] !== last.at(-1) || !rest.startsWith(last)) continue;
    if (last.replace(/\s/g, "").length < minRepeated) break;
    // Lines that are the same in a row, such as those of a table, go on.
    if (before.slice(0, at).endsWith(last)) break;
    return before + rest.slice(last.length);
  }
  return before + rest;
}
