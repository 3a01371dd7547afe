import { HttpUsageError } from "../../errors.ts";
import { draftExposed, type WholeDraft } from "../../exchange/exposed-response.ts";
import { HeaderList } from "../../message/header-list.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { RequestTooLargeError } from "../request/request-body.ts";
import { discardBody } from "../request/unread-body.ts";
import { problemOf, problemType } from "../request/reject-request.ts";
import { writeHead } from "./write-head.ts";

/**
 * Ends an exchange that failed: with the response of an error that asks to be one, with 413 for a body over the limit, or
 * else with a 500 that says nothing about the error, which is reported. Cuts the connection when the head is out already.
 */
export function failExchange(exchange: NodeExchange, error: unknown): void {
  const { request, response, runtime } = exchange;
  if (exchange.error !== undefined) return;
  // Whoever obeyed the signal, or read a body that broke off, fails because the client has gone.
  if (exchange.isGone && isAbort(error)) return;
  exchange.error = error ?? new Error("the handler failed without an error", { cause: error });
  if (isDeliberate(error)) {
    exchange.cut();
    return;
  }
  const isTooLarge = isBodyTooLarge(error);
  const draft = isTooLarge ? problem(413) : (draftExposed(error) ?? problem(500));
  // What a client did wrong is nothing to report.
  if (draft.status >= 500) runtime.reportError(explain(error));
  if (exchange.isGone) return;
  if (response.headersSent) {
    exchange.cut();
    return;
  }
  try {
    if (isTooLarge && exchange.hasBody && !request.complete) discardBody(request);
    exchange.leaveBody();
    sendDraft(exchange, draft);
  } catch (failure) {
    runtime.reportError(failure);
    exchange.cut();
  }
}
/** Explains what the platform says of a request that is not its own; nothing of ours is asked before it fails. */
function explain(error: unknown): unknown {
  const isForeign = isCausedBy(error, 1, ({ message }) =>
    message.includes("private member #state"),
  );
  if (!isForeign) return error;
  return new HttpUsageError(
    "ERR_HTTP_NATIVE_REQUEST",
    "fetch() and new Request() do not take a request of a server, they take nativeRequest(request)",
    { cause: error },
  );
}

const details = {
  413: "the body is larger than the server takes",
  500: "the server could not answer the request",
} as const;

function problem(status: 413 | 500): WholeDraft {
  const text = problemOf({ status, detail: details[status] });
  return { text, status, statusText: "", headers: HeaderList.of(["content-type", problemType]) };
}

function sendDraft(exchange: NodeExchange, { text, headers, ...head }: WholeDraft): void {
  const length = Buffer.byteLength(text);
  writeHead(exchange, { ...head, headers: HeaderList.fieldsOf(headers) }, length);
  const isHead = exchange.request.method === "HEAD";
  if (!isHead) exchange.bytes = length;
  exchange.response.end(isHead ? undefined : text);
}

/** Whether it is `ABORT_HANDLER` of `@fetchwork/middleware`, with which a handler has the connection cut. */
function isDeliberate(error: unknown): boolean {
  return isCausedBy(error, 1, (one) => "code" in one && one.code === "ERR_MIDDLEWARE_ABORT");
}

/** Returns whether the error, or one of its causes, says that the body is over the server's limit. */
function isBodyTooLarge(error: unknown): boolean {
  return isCausedBy(error, maxDepth, (one) => one instanceof RequestTooLargeError);
}

/** Whether the error, or what caused it, says that somebody has gone. */
function isAbort(error: unknown): boolean {
  return isCausedBy(
    error,
    maxDepth,
    (one) => one.name === "AbortError" || ("code" in one && one.code === "ECONNRESET"),
  );
}

/** Deeper than this nobody wraps errors, and a cycle ends. */
const maxDepth = 10;

/** Whether one of the first errors of a chain of causes matches. Errors that cannot be looked at do not. */
function isCausedBy(error: unknown, depth: number, matches: (one: Error) => boolean): boolean {
  try {
    let one = error;
    for (let count = 0; count < depth && one instanceof Error; count += 1) {
      if (matches(one)) return true;
      one = one.cause;
    }
  } catch {
    // A getter or a proxy threw.
  }
  return false;
}
