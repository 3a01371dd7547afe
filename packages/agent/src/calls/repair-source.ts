import type { ChatMessage } from "../models/model-provider.ts";
import type { AnswerForm } from "./ask-by-tool.ts";
import type { AskOptions } from "./ask-model.ts";
import { repairMessages, type RepairPromptInput } from "./prompts.ts";
import { writeSource } from "./write-source.ts";

/**
 * Asks for a file without its faults. A model with tools may answer with edits: a small change
 * takes few tokens and cannot lose the rest of the file.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export function repairSource(
  input: Omit<RepairPromptInput, "complaint">,
  options: AskOptions,
): Promise<string> {
  const messagesFor = (complaints: readonly string[], form: AnswerForm): readonly ChatMessage[] =>
    repairMessages({ ...input, complaint: complaints.at(-1) }, form);
  return writeSource(input.filePath, messagesFor, options, input.source);
}
