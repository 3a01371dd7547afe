import { describeValue, FetchworkError, UsageError } from "@fetchwork/kit";

/** Codes of the mistakes of a programmer that this package refuses. */
export type AgentUsageErrorCode = "ERR_AGENT_ARGUMENT" | "ERR_AGENT_OPTION";

/** Codes of what goes wrong while a project is written. */
export type AgentErrorCode =
  | "ERR_AGENT_AUTH"
  | "ERR_AGENT_BUDGET"
  | "ERR_AGENT_BUSY"
  | "ERR_AGENT_CANCELLED"
  | "ERR_AGENT_CONFLICT"
  | "ERR_AGENT_CONTEXT_OVERFLOW"
  | "ERR_AGENT_EMPTY"
  | "ERR_AGENT_JOURNAL"
  | "ERR_AGENT_LIMIT"
  | "ERR_AGENT_MCP"
  | "ERR_AGENT_NO_PROVIDER"
  | "ERR_AGENT_PROVIDER"
  | "ERR_AGENT_RATE_LIMITED"
  | "ERR_AGENT_REFUSED"
  | "ERR_AGENT_REPLAY"
  | "ERR_AGENT_SANDBOX"
  | "ERR_AGENT_TIMEOUT"
  | "ERR_AGENT_TOOL_OUTPUT"
  | "ERR_AGENT_TRUNCATED"
  | "ERR_AGENT_UNSAFE_PATH"
  | "ERR_AGENT_UNUSABLE"
  | "ERR_AGENT_WRITE";

/** A call that can never work: a wrong option, a missing argument. */
export class AgentUsageError extends UsageError {
  override readonly name: string = "AgentUsageError";
  declare readonly code: AgentUsageErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: AgentUsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** Options of an {@link AgentError}, besides its message. */
export interface AgentErrorOptions extends ErrorOptions {
  /** The file that it is about. Default: none. */
  readonly path?: string | undefined;
  /** Whether the same call may work when it is made again. Default: `false`. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds that the model's server asks to wait (`Retry-After`). Default: unknown. */
  readonly retryAfter?: number | undefined;
  /** HTTP status of the model's server. Default: none. */
  readonly status?: number | undefined;
}

/**
 * Something went wrong while a project was written: the model's server, its answer, the budget, a
 * path, the disk.
 *
 * No message has a key, a prompt or an answer. The text of a model's server is shortened to one
 * line. It is left out where it may repeat a key (401 and 403).
 */
export class AgentError extends FetchworkError {
  override readonly name: string = "AgentError";
  declare readonly code: AgentErrorCode;
  /** The file that it is about, if it is about one. */
  readonly path: string | undefined;
  /** Whether the same call may work when it is made again. */
  readonly retryable: boolean;
  /** Milliseconds that the model's server asks to wait. */
  readonly retryAfter: number | undefined;
  /** HTTP status of the model's server. */
  readonly status: number | undefined;

  constructor(code: AgentErrorCode, message: string, options: AgentErrorOptions = {}) {
    const { path, retryable = false, retryAfter, status, ...rest } = options;
    super(code, asLine(message), rest);
    this.path = path;
    this.retryable = retryable;
    this.retryAfter = retryAfter;
    this.status = status;
  }
}

/** The error for an option that is not what was expected. */
export function optionError(what: string, value: unknown, expected: string): AgentUsageError {
  return new AgentUsageError(
    "ERR_AGENT_OPTION",
    `${what} must be ${expected}, got ${describeValue(value)}`,
  );
}

/** Returns a text argument, or throws what says which one is missing. */
export function requireText(what: string, value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  const shown = typeof value === "string" ? "blank" : describeValue(value);
  throw new AgentUsageError("ERR_AGENT_ARGUMENT", `${what} must be a text, got ${shown}`);
}

/** Throws unless `value` is undefined or a whole number from `least` on. */
export function checkCount(what: string, value: unknown, min = 1): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min) {
    throw optionError(what, value, `a whole number, at least ${min}`);
  }
}

/** @throws AgentError `ERR_AGENT_LIMIT` for a file that has more bytes than are allowed */
export function checkFileBytes(path: string, bytes: number, maximum: number): void {
  if (bytes <= maximum) return;
  const message = `${path} has ${bytes} bytes, more than the ${maximum} that are allowed`;
  throw new AgentError("ERR_AGENT_LIMIT", message, { path });
}

/** Checks an optional time in milliseconds: timers of the platform fire at once if it is longer. */
export function checkTime(what: string, value: unknown, min = 1): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value >= 2 ** 31) {
    throw optionError(what, value, `whole milliseconds from ${min} to 2147483647`);
  }
}

/** Error for the reason of a signal: our own errors pass, anything else is a cancellation. */
export function cancelled(signal: AbortSignal): AgentError {
  const reason: unknown = signal.reason;
  if (reason instanceof AgentError) return reason;
  if (reason instanceof DOMException && reason.name === "TimeoutError") {
    return new AgentError("ERR_AGENT_TIMEOUT", "the call took too long", { cause: reason });
  }
  return new AgentError("ERR_AGENT_CANCELLED", "the call was cancelled", { cause: reason });
}

/** One line without control characters: messages quote paths, names and model output. */
export function asLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{FFFD}");
}
