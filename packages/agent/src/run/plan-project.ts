import { askStructured, Complaint } from "../calls/ask-structured.ts";
import type { AskOptions } from "../calls/ask-model.ts";
import { withProvider, type ModelCallOptions } from "../calls/call-options.ts";
import { plan } from "../calls/plan.ts";
import { contractMessages, contractTool } from "../calls/prompts.ts";
import { AgentError, requireText } from "../errors.ts";
import { readContract, type FileSpec, type ProjectPlan } from "../project/project-plan.ts";

/** Where the plan is kept. */
export const sharedDepsPath = "shared_deps.md";

/** Plans a program: the Markdown, and the files with what they owe each other. */
export async function planProject(
  prompt: string,
  options: ModelCallOptions = {},
): Promise<ProjectPlan> {
  const sharedDeps = await plan(prompt, options);
  return { sharedDeps, files: await specifyFiles(prompt, sharedDeps, withProvider(options)) };
}

/**
 * Lists the files of a planned program with their contract, by a structured call. Paths that cannot
 * be written are told to the model, once.
 */
async function specifyFiles(
  prompt: string,
  sharedDeps: string,
  options: AskOptions,
): Promise<readonly FileSpec[]> {
  requireText("prompt", prompt);
  requireText("sharedDeps", sharedDeps);
  const messages = contractMessages(prompt, sharedDeps);
  return askStructured({ messages, tool: contractTool, read }, options);
}

/**
 * Lists files as {@link planProject} does, without the plan, which is our file.
 *
 * @throws AgentError `ERR_AGENT_LIMIT` as a rejection, for no file or more than `maxFiles`
 */
export async function listProjectFiles(
  prompt: string,
  sharedDeps: string,
  maxFiles: number,
  options: AskOptions,
): Promise<readonly FileSpec[]> {
  const listed = await specifyFiles(prompt, sharedDeps, options);
  const files = listed.filter(({ path }) => path.toLowerCase() !== sharedDepsPath);
  if (files.length > 0 && files.length <= maxFiles) return files;
  const message = `the model must list 1 to ${maxFiles} files, got ${files.length}`;
  throw new AgentError("ERR_AGENT_LIMIT", message);
}

function read(value: unknown): readonly FileSpec[] | Complaint {
  const contract = readContract(value);
  if (contract === undefined) return new Complaint("It is not a list of files with paths.");
  const { files, refused } = contract;
  if (refused.length === 0) return files;
  const reasons = refused.slice(0, 20).map(({ path, reason }) => `${path}: ${reason}`);
  return new Complaint(`These paths cannot be written: ${reasons.join("; ")}.`);
}
