import { askModel } from "../calls/ask-model.ts";
import { withProvider, type ModelCallOptions } from "../calls/call-options.ts";
import { requirePlan } from "../calls/plan.ts";
import { checkConsistency } from "../check/check-consistency.ts";
import { describeDiagnostic } from "../check/diagnostic.ts";
import { requireText } from "../errors.ts";
import type { ChatMessage } from "../models/model-provider.ts";
import { readProjectFiles } from "../run/read-project-files.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { packProject, type PackOptions } from "./pack-project.ts";

/** How a model is asked about a project. */
export interface ProjectQuestionOptions extends ModelCallOptions {
  /** Most tokens of the project in the question, by estimate; see {@link PackOptions}. Default: `100_000`. */
  readonly maxContextTokens?: number | undefined;
  /** Most files that are looked at. Default: `1_000`. */
  readonly maxFiles?: number | undefined;
}

/** Characters of an error's text that are sent: its begin and its end, where the cause and the place stand. */
const longestProblem = 20_000;

/** Faults of the static check that are sent along. */
const mostFaults = 30;

/**
 * Explains an error: what causes it, in which files, and what to change. The files that the error's text names come first,
 * and what the static check finds is sent along. It changes nothing; `createAgent().edit` does.
 *
 * @param folder the program
 * @param problem the text of the error: a stack, the output of a test, a description
 * @returns Markdown
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` as a rejection for a blank problem
 * @throws AgentError as a rejection, when the folder cannot be read or there is no whole answer
 */
export async function diagnose(
  folder: string,
  problem: string,
  options: ProjectQuestionOptions = {},
): Promise<string> {
  const said = shorten(requireText("problem", problem));
  const faults = await faultsOf(folder, options);
  const found = faults.length === 0 ? "Nothing." : faults.map((fault) => `- ${fault}`).join("\n");
  return ask(folder, { ...options, about: `${said}\n${faults.join("\n")}` }, [
    {
      role: "system",
      content:
        "You are a senior engineer who finds the cause of an error in a program. Answer in Markdown: first the cause in one or two sentences, then the places (file and line or function) with what is wrong there, then what to change, with the lines as they should be. Say what you are not sure of, and which file you would have to see for it. Do not repeat the program.",
    },
    { role: "user", content: `# What a check finds without running it\n\n${found}` },
    { role: "user", content: `# Error\n\n${said}` },
  ]);
}

/**
 * Writes the prompt from which a program like this one could be written anew: what it does, its parts, and what they agree
 * on. What does not fit `maxContextTokens` is sent as declarations, or by name.
 *
 * @returns Markdown, for `plan` or `createAgent().run`
 * @throws AgentError as a rejection, when the folder cannot be read or there is no whole answer
 */
export async function codeToPrompt(
  folder: string,
  options: ProjectQuestionOptions = {},
): Promise<string> {
  return ask(folder, options, [
    {
      role: "system",
      content:
        "Write the prompt from which another engineer, who does not see this program, could write one that does the same. Answer in Markdown: what the program is for, what a user sees and can do, each file with its purpose, what files have to know of each other (exported names with parameters, schemas, ids of elements, routes, names of messages), the packages it uses, and what is special about its behaviour. No code but short examples of data.",
    },
  ]);
}

async function ask(
  folder: string,
  options: ProjectQuestionOptions & Pick<PackOptions, "about">,
  [system, ...rest]: readonly [ChatMessage, ...ChatMessage[]],
): Promise<string> {
  const { maxContextTokens: maxTokens, maxFiles, about, ...call } = options;
  const asked = withProvider(call);
  const { text: project } = await packProject(folder, { maxTokens, maxFiles, about });
  const messages = [system, { role: "user", content: `# Program\n\n${project}` } as const, ...rest];
  const { text } = await askModel({ messages }, asked);
  return requirePlan(text);
}

async function faultsOf(
  folder: string,
  { maxFiles = 1_000 }: ProjectQuestionOptions,
): Promise<readonly string[]> {
  const confined = await ConfinedFolder.open(requireText("folder", folder), { mustExist: true });
  const found = await checkConsistency(await readProjectFiles(confined, { maxFiles }));
  const errors = found.filter(({ severity }) => severity === "error");
  return errors.slice(0, mostFaults).map(describeDiagnostic);
}

function shorten(problem: string): string {
  if (problem.length <= longestProblem) return problem;
  const half = longestProblem / 2;
  return `${problem.slice(0, half)}\n[…]\n${problem.slice(-half)}`;
}
