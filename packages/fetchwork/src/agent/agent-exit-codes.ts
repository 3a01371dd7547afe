import { AgentError, AgentUsageError } from "@fetchwork/agent";
import { CommandFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { CommandUsageError } from "../command/usage-error.ts";

/** Exit codes of `fetchwork agent`, in addition to those of every command. */
export const agentExitCodes = { faults: 3, limit: 4, provider: 5 } as const;

const codes: ReadonlyMap<string, number> = new Map([
  ["ERR_AGENT_BUDGET", agentExitCodes.limit],
  ["ERR_AGENT_LIMIT", agentExitCodes.limit],
  ["ERR_AGENT_AUTH", agentExitCodes.provider],
  ["ERR_AGENT_NO_PROVIDER", agentExitCodes.provider],
  ["ERR_AGENT_PROVIDER", agentExitCodes.provider],
  ["ERR_AGENT_RATE_LIMITED", agentExitCodes.provider],
  ["ERR_AGENT_REPLAY", agentExitCodes.provider],
  ["ERR_AGENT_TIMEOUT", agentExitCodes.provider],
]);

/** Converts an error of the agent library into the failure of a command. */
export function asFailure(error: unknown, signal: AbortSignal): Error {
  if (error instanceof CommandFailure || error instanceof CommandUsageError) return error;
  if (error instanceof AgentUsageError)
    return new CommandUsageError(error.message, { cause: error });
  if (signal.aborted) {
    const exitCode = exitCodes.interrupted;
    return new CommandFailure("interrupted", { exitCode, cause: error });
  }
  if (error instanceof AgentError) {
    const exitCode = codes.get(error.code) ?? 1;
    return new CommandFailure(`${error.message}${optionFor(error)}`, {
      exitCode,
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** The option of the command that helps, where the message of the library names its own. */
function optionFor({ code, path }: AgentError): string {
  if (code === "ERR_AGENT_NO_PROVIDER") return " (--replay <file>)";
  // Only files that are not committed have no path.
  return code === "ERR_AGENT_CONFLICT" && path === undefined ? " (--dirty)" : "";
}
