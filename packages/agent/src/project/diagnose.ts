import { askModel } from "../calls/ask-model.ts";
import { withProvider, type ModelCallOptions } from "../calls/call-options.ts";
import { requirePlan } from "../calls/plan.ts";
import { diagnoseMessages } from "../calls/prompts.ts";
import { checkConsistency } from "../check/check-consistency.ts";
import { describeDiagnostic } from "../check/diagnostic.ts";
import { checkCount, requireText } from "../errors.ts";
import { readProjectFiles } from "../run/read-project-files.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { filesToShow } from "./files-to-show.ts";

/** How a model is asked about an error. */
export interface DiagnoseOptions extends ModelCallOptions {
  /** Maximum tokens of the program in the question, at 3.5 bytes each. Default: `100_000`. */
  readonly maxContextTokens?: number | undefined;
}

/** Characters of an error's text that are sent: its start and end, where cause and place are. */
const longestProblem = 20_000;

/** Faults of the static check that are sent along. */
const maxFaults = 30;

/**
 * Explains an error: what causes it, in which files, and what to change. The files that the error's
 * text names come first, and what the static check finds is sent along. It changes nothing;
 * `createAgent().edit` does.
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
  options: DiagnoseOptions = {},
): Promise<string> {
  const { maxContextTokens = 100_000, ...call } = options;
  checkCount("maxContextTokens", maxContextTokens);
  const statement = shorten(requireText("problem", problem));
  const confined = await ConfinedFolder.open(requireText("folder", folder), { mustExist: true });
  const files = await readProjectFiles(confined, { maxFiles: 1_000 });
  const faults = (await checkConsistency(files))
    .filter(({ severity }) => severity === "error")
    .slice(0, maxFaults)
    .map(describeDiagnostic);
  const about = [statement, ...faults].join("\n");
  const shown = await filesToShow(files, { maxTokens: maxContextTokens, about });
  const messages = diagnoseMessages(statement, faults, shown);
  const { text } = await askModel({ messages }, withProvider(call));
  return requirePlan(text);
}

function shorten(problem: string): string {
  if (problem.length <= longestProblem) return problem;
  const half = longestProblem / 2;
  return `${problem.slice(0, half)}\n[…]\n${problem.slice(-half)}`;
}
