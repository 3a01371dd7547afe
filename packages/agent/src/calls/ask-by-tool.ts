import { AgentError } from "../errors.ts";
import type { ModelProvider } from "../models/model-provider.ts";
import {
  askModel,
  CutCallError,
  modelOf,
  type Answer,
  type AskOptions,
  type Question,
} from "./ask-model.ts";

/** How an answer is asked for: as a call of a tool, or as text. */
export type AnswerForm = "tool" | "text";

/** Models whose servers refused a tool and answered without one. */
const withoutTools = new WeakMap<ModelProvider, Set<string>>();

/** How a model is asked first. */
export function formFor(options: AskOptions): AnswerForm {
  return withoutTools.get(options.provider)?.has(modelOf(options)) === true ? "text" : "tool";
}

/**
 * Asks for a call of a tool. Where the server refuses that, or the call is longer than an answer
 * may be, asks for text: a text can be continued.
 *
 * @param refusals status codes by which it may refuse tools; `undefined`: an answer that is not
 * understood. Default: 400, 422
 * @returns the answer, and how it was asked for
 */
export async function askByTool(
  questionFor: (form: AnswerForm) => Question,
  options: AskOptions,
  form: AnswerForm = formFor(options),
  refusals?: readonly (number | undefined)[],
): Promise<Answer & { readonly form: AnswerForm }> {
  let isCut = false;
  try {
    return { ...(await askModel(questionFor(form), options)), form };
  } catch (error) {
    isCut = error instanceof CutCallError;
    if (form === "text" || !(refusesTools(error, refusals) || isCut)) throw error;
  }
  const answer = await askModel(questionFor("text"), options);
  const { provider } = options;
  if (!isCut) {
    withoutTools.set(provider, (withoutTools.get(provider) ?? new Set()).add(modelOf(options)));
  }
  return { ...answer, form: "text" };
}

/** Whether a server may have failed because it knows no tools. */
export function refusesTools(
  error: unknown,
  statuses: readonly (number | undefined)[] = [400, 422],
): boolean {
  return (
    error instanceof AgentError &&
    error.code === "ERR_AGENT_PROVIDER" &&
    statuses.includes(error.status)
  );
}
