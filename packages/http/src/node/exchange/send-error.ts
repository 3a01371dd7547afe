import { HttpUsageError } from "../../errors.ts";
import { draftExposed, type WholeDraft } from "../../exchange/exposed-response.ts";
import { HeaderList } from "../../message/header-list.ts";
import { RequestTooLargeError } from "../../message/read-whole.ts";
import { problemOf, problemType } from "../request/reject-request.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { writeHead } from "./write-head.ts";

/**
 * Ends an exchange with an error. The response is that of an exposed error, or 413 for a body over
 * the limit; else it is a 500 that reveals nothing, and the error is reported. Breaks the
 * connection when the head was sent already.
 */
export function sendError(exchange: NodeExchange, error: unknown): void {
  const { response, runtime } = exchange;
  if (exchange.error !== undefined) return;
  exchange.received.releaseBody();
  // A handler that obeys the signal, or reads a body that breaks off, fails because the client has
  // left.
  if (exchange.isDisconnected && isAbort(error)) return;
  exchange.error = error ?? new Error("the handler failed without an error", { cause: error });
  if (isDeliberateAbort(error)) {
    exchange.abort();
    return;
  }
  const isTooLarge = isBodyTooLarge(error);
  const draft = isTooLarge ? problem(413) : (draftExposed(error) ?? problem(500));
  // Mistakes of the client are not reported.
  if (draft.status >= 500) runtime.reportError(explain(error));
  if (exchange.isDisconnected) return;
  if (response.headersSent) {
    exchange.abort();
    return;
  }
  try {
    exchange.discardUnreadBody();
    sendDraft(exchange, draft);
  } catch (failure) {
    runtime.reportError(failure);
    exchange.abort();
  }
}

/**
 * Explains what the platform throws for a request of ours: it looks for its own private state, and
 * asks us nothing before it fails.
 */
function explain(error: unknown): unknown {
  const isPrivateState = isCausedBy(error, 1, ({ message }) =>
    privateStateMessages.includes(message),
  );
  if (!isPrivateState) return error;
  return new HttpUsageError(
    "ERR_HTTP_NATIVE_REQUEST",
    "fetch() and new Request() do not accept a request of a server; pass them nativeRequest(request)",
    { cause: error },
  );
}

/** Messages of Node 24 and later, and of Node 22. */
const privateStateMessages: readonly string[] = [
  "Cannot read private member #state from an object whose class did not declare it",
  "Cannot read properties of undefined (reading 'window')",
];

const details = {
  413: "the body is larger than the server accepts",
  500: "the server could not handle the request",
} as const;

function problem(status: 413 | 500): WholeDraft {
  const text = problemOf({ status, detail: details[status] });
  return { text, status, statusText: "", headers: HeaderList.of(["content-type", problemType]) };
}

function sendDraft(exchange: NodeExchange, { text, headers, ...head }: WholeDraft): void {
  const { request, response } = exchange;
  // Node keeps the reason phrase of a head that it refused to write. HTTP/2 has none.
  if (request.httpVersionMajor === 1) response.statusMessage = "";
  const length = Buffer.byteLength(text);
  writeHead(exchange, { ...head, headers: HeaderList.fieldsOf(headers) }, length);
  const isHead = request.method === "HEAD";
  if (!isHead) exchange.bytes = length;
  response.end(isHead ? undefined : text);
}

/** Whether it is `ABORT_HANDLER` of `@fetchwork/middleware`: breaks the connection. */
function isDeliberateAbort(error: unknown): boolean {
  return isCausedBy(error, 1, (one) => "code" in one && one.code === "ERR_MIDDLEWARE_ABORT");
}

/** Returns whether the error, or one of its causes, says that the body exceeds the limit. */
function isBodyTooLarge(error: unknown): boolean {
  return isCausedBy(error, maxDepth, (one) => one instanceof RequestTooLargeError);
}

/** Returns whether the error, or one of its causes, says that somebody has left. */
function isAbort(error: unknown): boolean {
  return isCausedBy(
    error,
    maxDepth,
    (one) => one.name === "AbortError" || ("code" in one && one.code === "ECONNRESET"),
  );
}

/** Errors are not wrapped deeper than this, and a cycle ends here. */
const maxDepth = 10;

/** Whether one of the first causes of an error matches. Unreadable errors do not. */
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
