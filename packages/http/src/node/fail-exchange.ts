import type { IncomingMessage } from "node:http";
import { BodyTooLargeError } from "srvx/body-limit";
import type { NodeExchange } from "./exchange.ts";
import { boundUnreadBody, discardBody } from "./kept-message.ts";
import { writeHead } from "./write-head.ts";

/**
 * Ends an exchange that failed: reports the error once, and answers 500 (413 for a body over the limit), or cuts
 * the connection when the head is out already. The answer says nothing about the error.
 */
export function failExchange(exchange: NodeExchange, error: unknown): void {
  const { request, response } = exchange;
  if (exchange.error !== undefined) return;
  // Whoever obeyed the signal, or read a body that broke off, fails because the client has gone.
  if (exchange.isGone && isAbort(error)) return;
  exchange.error = error ?? new Error("the handler failed without an error", { cause: error });
  const isTooLarge = isBodyTooLarge(error);
  if (!isTooLarge) report(exchange, error);
  if (exchange.isGone) return;
  if (response.headersSent) {
    exchange.cut();
    return;
  }
  const status = isTooLarge ? 413 : 500;
  try {
    if (exchange.hasBody && !request.complete) {
      if (isTooLarge) discardBody(request);
      response.once("finish", () => boundUnreadBody(request));
    }
    sendProblem(exchange, status);
  } catch (failure) {
    report(exchange, failure);
    exchange.cut();
  }
}

const titles: Readonly<Record<number, string>> = {
  413: "Content Too Large",
  500: "Internal Server Error",
};

function sendProblem(exchange: NodeExchange, status: number): void {
  const body = JSON.stringify({ type: "about:blank", title: titles[status], status });
  const headers = ["content-type", "application/problem+json"];
  writeHead(exchange, { status, statusText: "", headers }, Buffer.byteLength(body));
  const isHead = exchange.request.method === "HEAD";
  if (!isHead) exchange.bytes = Buffer.byteLength(body);
  exchange.response.end(isHead ? undefined : body);
}

/** Whether the error, or what caused it, says that the body is over the server's limit. */
function isBodyTooLarge(error: unknown): boolean {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof BodyTooLargeError) return true;
  }
  return false;
}

function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "AbortError" || ("code" in error && error.code === "ECONNRESET");
}

function report(exchange: NodeExchange, error: unknown): void {
  try {
    exchange.runtime.reportError(error);
  } catch (failure) {
    console.error(failure);
  }
}

/** Answers a request that is refused before there is an exchange, and closes the connection after it. */
export function refuse(
  request: IncomingMessage,
  response: NodeExchange["response"],
  status: number,
  title: string,
): void {
  const body = JSON.stringify({ type: "about:blank", title, status });
  const headers: Record<string, string | number> = {
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
  };
  if (request.httpVersionMajor !== 2) headers["connection"] = "close";
  response.writeHead(status, headers);
  response.end(request.method === "HEAD" ? undefined : body);
}
