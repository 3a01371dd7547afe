import type { AskOptions } from "../calls/ask-model.ts";
import { withProvider, type ModelCallOptions } from "../calls/call-options.ts";
import { plan } from "../calls/plan.ts";
import { specifyFiles } from "../calls/specify-file-paths.ts";
import { AgentError } from "../errors.ts";
import type { FileSpec, ProjectPlan } from "../project/project-plan.ts";

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
