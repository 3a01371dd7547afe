import { AgentError, AgentUsageError, type AgentErrorCode } from "../errors.ts";
import { HttpFailure } from "./http-failure.ts";
import { storableText } from "./storable.ts";
import type { StepFailure } from "./task-records.ts";

/** Statuses of responses for a failed step. Others are 502: the model's server or answer. */
const statuses: { readonly [C in AgentErrorCode]?: number } = {
  ERR_AGENT_BUDGET: 402,
  ERR_AGENT_BUSY: 409,
  ERR_AGENT_CANCELLED: 409,
  ERR_AGENT_CONFLICT: 409,
  ERR_AGENT_JOURNAL: 500,
  ERR_AGENT_LIMIT: 422,
  ERR_AGENT_RATE_LIMITED: 429,
  ERR_AGENT_SANDBOX: 500,
  ERR_AGENT_TIMEOUT: 504,
  ERR_AGENT_WRITE: 500,
};

/** The step cannot continue in this process, without a fault: it is run again later. */
export class Interruption extends Error {
  override readonly name: string = "Interruption";
}

/** Failure that clients may see; without details of an error that is not ours. */
export function toStepFailure(error: unknown): StepFailure {
  if (error instanceof AgentError) {
    const { message, code, retryable } = error;
    return { message: storableText(message), code, retryable };
  }
  if (error instanceof AgentUsageError) {
    return { message: error.message, code: error.code, retryable: false };
  }
  return { message: "the step failed", code: "internal", retryable: true };
}

/** The response to a client whose step failed. */
export function toHttpFailure(error: unknown): HttpFailure {
  if (error instanceof Interruption) {
    const options = { headers: { "retry-after": "5" }, retryable: true };
    return new HttpFailure(503, "interrupted", error.message, options);
  }
  const { message, code, retryable } = toStepFailure(error);
  if (!(error instanceof AgentError)) return new HttpFailure(500, code, message, { retryable });
  const { retryAfter } = error;
  const headers =
    retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter / 1_000)) };
  return new HttpFailure(statuses[error.code] ?? 502, code, message, { headers, retryable });
}
