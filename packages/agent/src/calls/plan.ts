import { AgentError, requireText } from "../errors.ts";
import { isRefusal } from "../files/find-refusal.ts";
import { askModel } from "./ask-model.ts";
import { withProvider, type PlanOptions } from "./call-options.ts";
import { planMessages } from "./prompts.ts";

/** The plan itself, unless it is a refusal in words. */
export function requirePlan(text: string): string {
  if (isRefusal(text)) throw new AgentError("ERR_AGENT_REFUSED", "the model refused to answer");
  return text;
}

/**
 * Plans a program (specification, part B): Markdown with a list of its files and what they have to
 * know of each other.
 *
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` as a rejection for a blank prompt
 * @throws AgentError as a rejection, when there is no whole answer
 */
export async function plan(prompt: string, options: PlanOptions = {}): Promise<string> {
  const { extraMessages = [], ...rest } = options;
  const messages = planMessages(requireText("prompt", prompt), extraMessages);
  const { text } = await askModel({ messages }, withProvider(rest));
  return requirePlan(text);
}
