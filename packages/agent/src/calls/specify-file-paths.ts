import { requireText } from "../errors.ts";
import { readContract } from "../project/project-plan.ts";
import { askStructured, Complaint } from "./ask-structured.ts";
import { withProvider, type ModelCallOptions } from "./call-options.ts";
import { filePathMessages, filePathsTool } from "./prompts.ts";

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
  const messages = filePathMessages(
    requireText("prompt", prompt),
    requireText("sharedDeps", sharedDeps),
  );
  return askStructured({ messages, tool: filePathsTool, read }, withProvider(options));
}

function read(value: unknown): string[] | Complaint {
  const contract = readContract(value);
  if (contract === undefined) return new Complaint("It is not a list of paths.");
  const { files, refused } = contract;
  if (refused.length === 0) return files.map(({ path }) => path);
  const reasons = refused.slice(0, 20).map(({ path, reason }) => `${path}: ${reason}`);
  return new Complaint(`These paths cannot be written: ${reasons.join("; ")}.`);
}
