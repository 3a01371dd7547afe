import { requireText } from "../errors.ts";
import { readContract, type FileSpec } from "../project/project-plan.ts";
import type { AskOptions } from "./ask-model.ts";
import { askStructured, Complaint } from "./ask-structured.ts";
import { withProvider, type ModelCallOptions } from "./call-options.ts";
import { contractMessages, contractTool } from "./prompts.ts";

/**
 * Lists the files of a planned program (specification, part B), by a structured call: relative,
 * normalised, each once. Paths that cannot be written are told to the model, once.
 *
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` as a rejection for a blank argument
 * @throws AgentError `ERR_AGENT_TOOL_OUTPUT` as a rejection, when there is no usable list, or
 * another one when there is no whole answer
 */
export async function specifyFilePaths(
  prompt: string,
  sharedDeps: string,
  options: ModelCallOptions = {},
): Promise<string[]> {
  requireText("prompt", prompt);
  requireText("sharedDeps", sharedDeps);
  const files = await specifyFiles(prompt, sharedDeps, withProvider(options));
  return files.map(({ path }) => path);
}

/** Lists files as {@link specifyFilePaths} does, with what they owe each other. */
export function specifyFiles(
  prompt: string,
  sharedDeps: string,
  options: AskOptions,
): Promise<readonly FileSpec[]> {
  const messages = contractMessages(prompt, sharedDeps);
  return askStructured({ messages, tool: contractTool, read }, options);
}

function read(value: unknown): readonly FileSpec[] | Complaint {
  const contract = readContract(value);
  if (contract === undefined) return new Complaint("It is not a list of files with paths.");
  const { files, refused } = contract;
  if (refused.length === 0) return files;
  const reasons = refused.slice(0, 20).map(({ path, reason }) => `${path}: ${reason}`);
  return new Complaint(`These paths cannot be written: ${reasons.join("; ")}.`);
}
