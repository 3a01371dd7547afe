import { optionError } from "../errors.ts";

/** Whether a text may name a run: it is the name of a folder, too. */
export function isRunId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/**
 * Checks the name of a run.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION` for any other text
 */
export function checkRunId(runId: string): string {
  if (isRunId(runId)) return runId;
  throw optionError("runId", runId, "letters, digits, _ and -, at most 64");
}
