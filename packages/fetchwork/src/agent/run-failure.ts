import { AgentError, AgentUsageError } from "@fetchwork/agent";
import { CommandFailure } from "../command/command-failure.ts";
import type { CommandIo } from "../command/command-io.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { asFailure } from "./agent-exit-codes.ts";

/** A run that did not finish. */
export class RunFailure extends CommandFailure {
  readonly runId: string | undefined;
  /** The command that resumes it. */
  readonly resume: string | undefined;

  constructor(
    failure: Error,
    {
      runId,
      resume,
    }: { readonly runId?: string | undefined; readonly resume?: string | undefined },
  ) {
    const exitCode = failure instanceof CommandFailure ? failure.exitCode : 1;
    const cause = failure.cause ?? failure;
    const hint = resume === undefined ? undefined : `${advice(cause)}: ${resume}`;
    super(failure.message, { exitCode, hint, cause });
    this.runId = runId;
    this.resume = resume;
  }
}

/** Advice for the resume command, which may otherwise fail in the same way. */
function advice(cause: unknown): string {
  const code = cause instanceof AgentError ? cause.code : undefined;
  if (code === "ERR_AGENT_BUDGET" || code === "ERR_AGENT_LIMIT") {
    return "Raise the limit and resume with";
  }
  if (code === "ERR_AGENT_CONFLICT") return "Choose another --on-conflict and resume with";
  return "Resume with";
}

/**
 * Converts a failed run into the failure of the command. With `--json` the failure is also the last
 * line of standard output. A program needs to read nothing else.
 */
export function toRunFailure(
  error: unknown,
  { json, quiet }: Readonly<Record<string, unknown>>,
  io: CommandIo,
): Error {
  const failure = asFailure(error, io.signal);
  if (json !== true || quiet === true) return failure;
  const { message, cause } = failure;
  const known = cause instanceof AgentError || cause instanceof AgentUsageError;
  const { runId, resume } = failure instanceof RunFailure ? failure : {};
  io.stdout.write(
    jsonLine({ type: "failed", ...(known && { code: cause.code }), message, runId, resume }),
  );
  return failure;
}
