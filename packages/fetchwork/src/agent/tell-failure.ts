import { AgentError, AgentUsageError } from "@fetchwork/agent";
import { CommandFailure } from "../command-failure.ts";
import type { CommandIo } from "../command-io.ts";
import { jsonLine } from "../terminal-text.ts";
import { asFailure } from "./agent-exit-codes.ts";

/** A run ended before its time. */
export class RunFailure extends CommandFailure {
  readonly runId: string | undefined;
  /** The command that goes on with it. */
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

/** What to do with the command that goes on; as it is, it may end the same way. */
function advice(cause: unknown): string {
  const code = cause instanceof AgentError ? cause.code : undefined;
  if (code === "ERR_AGENT_BUDGET" || code === "ERR_AGENT_LIMIT") {
    return "Raise the limit, and go on with";
  }
  if (code === "ERR_AGENT_CONFLICT") return "Choose another --on-conflict, and go on with";
  return "Go on with";
}

/**
 * What a command of the agent throws for what went wrong in it. With `--json` it is the last line of standard output
 * too, so that a program has to read nothing else.
 */
export function tellFailure(
  error: unknown,
  { json, quiet }: { readonly json?: boolean | undefined; readonly quiet?: boolean | undefined },
  io: CommandIo,
): Error {
  const failure = asFailure(error, { signal: io.signal });
  if (json !== true || quiet === true) return failure;
  const { message, cause } = failure;
  const known = cause instanceof AgentError || cause instanceof AgentUsageError;
  const { runId, resume } = failure instanceof RunFailure ? failure : {};
  io.stdout.write(
    jsonLine({ type: "failed", ...(known && { code: cause.code }), message, runId, resume }),
  );
  return failure;
}
