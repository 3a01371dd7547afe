import type { Context } from "@fetchwork/http";
import { checkFunction, checkOptions, optionError } from "../check-options.ts";
import { encodeJSON } from "./encode-json.ts";
import { writeSafely, writeToConsole, type LogSink } from "../log/log-sink.ts";
import { queryMasker } from "../log/mask-query.ts";
import { oneLine } from "../log/one-line.ts";
import { readClientAddress } from "../address/client-address.ts";
import { pathAndQueryOf } from "../request/request-url.ts";

/** Report of a failure for an {@link ErrorLogger}. Nothing of it is sent. */
interface FailureReport {
  /** Status of the response. */
  readonly status: number;
  /** Cause of the failure; its message goes into the log. Default: none. */
  readonly cause?: unknown;
  /** The request that failed. Default: the line has no address and no URL. */
  readonly request?: Request | undefined;
  /** Returns the client's address. Default: the line has none. */
  readonly context?: Context | undefined;
}

/** Writes one line for each failure. */
export interface ErrorLogger {
  /** Writes `<messages> - <cause> - <status> - <ip> - <url> [caused by <file:line>]`. */
  readonly log: (failure: FailureReport, ...messages: readonly string[]) => void;
}

/** Options of {@link sendErrorJSON}. */
interface SendErrorOptions extends Omit<FailureReport, "status"> {
  /** More for the client: any value with a JSON form. Default: no such member. */
  readonly details?: unknown;
  /** Logs the failure. Default: nothing is logged. */
  readonly logger?: ErrorLogger | undefined;
}

/**
 * Makes a response of a status and `{ "error": …, "details": … }`, as {@link encodeJSON} writes it.
 * The response has the words of the caller: a text, or the message of an error, which is logged as
 * the cause too. The message of `cause` goes into the log only.
 *
 * @example
 * ```ts
 * try {
 *   await store.open();
 * } catch (cause) {
 *   return sendErrorJSON(503, "no connection", { cause, request, context, logger });
 * }
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_JSON` when the details have no JSON form,
 * `ERR_MIDDLEWARE_OPTION` when `error` is neither text nor an error
 */
export function sendErrorJSON(
  status: number,
  error: string | Error,
  options: SendErrorOptions = {},
): Response {
  checkOptions("sendErrorJSON", options, ["details", "logger", "cause", "request", "context"]);
  const isError = error instanceof Error;
  if (!isError && typeof error !== "string") throw optionError("error", error, "text or an error");
  const { details, logger, cause = isError ? error : undefined, request, context } = options;
  const message = isError ? error.message : error;
  logger?.log({ status, cause, request, context }, message);
  return encodeJSON(
    status,
    details === undefined ? { error: message } : { error: message, details },
  );
}

/**
 * Makes a logger for {@link sendErrorJSON} and for failures that are not sent. Lines are safe
 * against forged line breaks and controls, and secret values of the query are masked.
 *
 * @param sink - Receives each line with its line break. Default: the standard output.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the sink is not a function
 */
export function newErrorLogger(sink: LogSink = writeToConsole): ErrorLogger {
  checkFunction(sink, "sink");
  const mask = queryMasker();
  return {
    log: ({ status, cause, request, context }, ...messages) => {
      const text = messages.join(". ");
      const fields = [text === "" ? "no message" : text, describeCause(cause), String(status)];
      const address = addressOf(request, context);
      if (address !== undefined) fields.push(address);
      if (request !== undefined) fields.push(mask(pathAndQueryOf(request.url)));
      const place = placeOf(cause);
      const line = fields.map(oneLine).join(" - ");
      const ending = place === undefined ? "" : ` [caused by ${oneLine(place)}]`;
      writeSafely(() => sink(`${line}${ending}\n`));
    },
  };
}

function addressOf(request: Request | undefined, context: Context | undefined): string | undefined {
  if (context === undefined || request === undefined) return context?.ip;
  return readClientAddress(request, context);
}

function describeCause(cause: unknown): string {
  if (cause === undefined || cause === null) return "no error";
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : `a thrown ${typeof cause}`;
}

// Longer than any place in a program, and short enough for the search in it.
const longestFrame = 1000;

/** File and line where an error was made: the last three parts of the path. */
function placeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || typeof cause.stack !== "string") return undefined;
  // The stack starts with the message, and lines of that may look like a place.
  const { message, stack } = cause;
  const end = stack.indexOf(message) + message.length;
  for (const line of stack.slice(end).split("\n")) {
    if (line.length > longestFrame || !/^\s+at /.test(line)) continue;
    const position = /([^\s(]+:\d+):\d+\)?$/.exec(line)?.[1];
    if (position !== undefined) return position.split(/[\\/]/).slice(-3).join("/");
  }
  return undefined;
}
