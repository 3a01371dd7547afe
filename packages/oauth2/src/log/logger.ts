import { guardLogger, isObject, type Logger } from "@fetchwork/kit";
import { filteredLabel, isSecretHeader, redactForm, redactText } from "./redact.ts";

/** Receives debug output and warnings; `console` is one. */
export interface DebugLogger {
  /** Receives one entry of debug output; it may have several lines. */
  debug(entry: string): void;
  /** Receives a warning. Default: `debug`. */
  warn?(entry: string): void;
}

/** A logger that never throws. */
export type GuardedLogger = Required<DebugLogger>;

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Guards the logger of a caller. An error of it must not fail a request, whose response may hold
 * the only token that is still valid.
 */
export function guardDebugLogger(logger: DebugLogger): GuardedLogger {
  const guarded = guardLogger(logger, silent);
  return logger.warn === undefined
    ? { debug: (entry) => guarded.debug(entry), warn: (entry) => guarded.debug(entry) }
    : guarded;
}

/* oxlint-disable no-console -- the specification's default destination */
/** Writes to the standard output, and warnings to the standard error. */
export const consoleLogger: DebugLogger = {
  debug: (entry) => console.log(entry),
  warn: (entry) => console.warn(entry),
};
/* oxlint-enable no-console */

/** Whether the environment asks for debug output: `OAUTH_DEBUG` is `true`. */
export function debugFromEnvironment(): boolean {
  const process: unknown = Reflect.get(globalThis, "process");
  const env: unknown = isObject(process) ? process["env"] : undefined;
  return isObject(env) && String(env["OAUTH_DEBUG"]).toLowerCase() === "true";
}

/** One message, as it is logged. */
export interface LoggedMessage {
  readonly headers: Headers;
  readonly body: string | Uint8Array | undefined;
  /** Values that are secret wherever they stand, such as the token of the request. */
  readonly secrets?: readonly string[] | undefined;
}

/** Describes a request for the log, without secrets. */
export function describeRequest(method: string, url: URL, message: LoggedMessage): string {
  return `request: ${method} ${redactText(url.href, message.secrets)}${rest(message)}`;
}

/** Describes a response for the log, without secrets. */
export function describeResponse(status: number, message: LoggedMessage): string {
  return `response: ${status}${rest(message)}`;
}

/** Describes a body that was streamed, without secrets. */
export function describeBody(
  kind: "request" | "response",
  { headers, body, secrets }: LoggedMessage,
): string {
  return `${kind} body: ${bodyText(headers, body, secrets) || "(empty)"}`;
}

function rest({ headers, body, secrets }: LoggedMessage): string {
  const lines = Array.from(headers, ([name, value]) => {
    const shown = isSecretHeader(name) ? filteredLabel() : redactText(value, secrets);
    return `\n  ${name}: ${shown}`;
  });
  const text = bodyText(headers, body, secrets);
  return `${lines.join("")}${text === "" ? "" : `\n  ${text}`}`;
}

function bodyText(
  headers: Headers,
  body: string | Uint8Array | undefined,
  secrets: readonly string[] | undefined,
): string {
  if (body === undefined || body.length === 0) return "";
  const type = headers.get("content-type") ?? "";
  const text = typeof body === "string" ? body : decode(body);
  if (text === undefined) return `(${body.length} bytes)`;
  const form = type.includes("x-www-form-urlencoded");
  return redactText(form ? redactForm(text) : text, secrets).replace(/[^\P{Cc}\t\n]/gu, " ");
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
