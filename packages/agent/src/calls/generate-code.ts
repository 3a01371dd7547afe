import { AgentUsageError, requireText } from "../errors.ts";
import { validateFilePath } from "../files/file-path.ts";
import { withProvider, type ModelCallOptions } from "./call-options.ts";
import { writePlannedFile } from "./write-source.ts";

/**
 * Writes the source of one file of a planned program (specification, part B). An answer that was
 * cut, refused, left something out or has wrong syntax is never returned.
 *
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` as a rejection for a blank argument or a path that
 * cannot be written
 * @throws AgentError as a rejection, `ERR_AGENT_UNUSABLE` when no answer was a whole file
 */
export async function generateCode(
  prompt: string,
  sharedDeps: string,
  filePath: string,
  options: ModelCallOptions = {},
): Promise<string> {
  requireText("prompt", prompt);
  requireText("sharedDeps", sharedDeps);
  const result = validateFilePath(requireText("filePath", filePath));
  if (!result.ok) {
    throw new AgentUsageError("ERR_AGENT_ARGUMENT", `filePath cannot be written: ${result.reason}`);
  }
  const input = { prompt, sharedDeps, filePath: result.path };
  return writePlannedFile(input, withProvider(options));
}
