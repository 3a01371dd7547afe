import type { ServerResponse } from "node:http";
import { HttpError, HttpUsageError } from "../errors.ts";
import type { PreparedResponse } from "../response.ts";
import type { NodeExchange } from "./exchange.ts";
import { failExchange } from "./fail-exchange.ts";
import { writeHead } from "./write-head.ts";

/**
 * Sends a body as it comes, no faster than the client takes it.
 *
 * The head goes out with the first chunk, or by itself when there is none in this turn of the event loop. A stream
 * that fails before the head can still become a 500.
 */
export function sendStream(
  exchange: NodeExchange,
  prepared: PreparedResponse,
  stream: ReadableStream<unknown>,
): void {
  const { response } = exchange;
  const reader = stream.getReader();
  const onClose = (): void => {
    reader.cancel(exchange.error ?? goneReason()).catch(() => undefined);
  };
  const flush = setImmediate(() => {
    if (exchange.isGone || response.headersSent) return;
    try {
      writeHead(exchange, prepared);
      response.flushHeaders();
    } catch (error) {
      failExchange(exchange, error);
    }
  });
  response.on("close", onClose);
  // A write that meets a reset says so here; "close" follows and is what counts.
  response.on("error", () => undefined);
  void pump(exchange, prepared, reader)
    .catch((error: unknown) => {
      failExchange(exchange, error);
      reader.cancel(error).catch(() => undefined);
    })
    .finally(() => {
      clearImmediate(flush);
      response.off("close", onClose);
    });
}

async function pump(
  exchange: NodeExchange,
  prepared: PreparedResponse,
  reader: ReadableStreamDefaultReader<unknown>,
): Promise<void> {
  const { response } = exchange;
  const declared = declaredLength(prepared);
  while (true) {
    const { done, value } = await reader.read();
    if (exchange.isGone) return;
    if (done) break;
    if (!(value instanceof Uint8Array)) {
      throw new HttpUsageError(
        "ERR_HTTP_RESPONSE",
        `a body's stream gave ${typeof value}, expected Uint8Array`,
      );
    }
    if (value.byteLength === 0) continue;
    if (exchange.bytes + value.byteLength > declared.max) throw lengthError(prepared);
    if (!response.headersSent) writeHead(exchange, prepared);
    exchange.bytes += value.byteLength;
    if (!response.write(value)) await drained(response);
  }
  if (exchange.bytes < declared.min) throw lengthError(prepared);
  if (!response.headersSent) writeHead(exchange, prepared, 0);
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}

/** What `Content-Length` promises; a body that breaks it would shift the next response on the connection. */
function declaredLength(prepared: PreparedResponse): {
  readonly min: number;
  readonly max: number;
} {
  const value = contentLength(prepared);
  if (value === undefined) return { min: 0, max: Infinity };
  if (!/^\d+$/.test(value)) throw lengthError(prepared);
  return { min: Number(value), max: Number(value) };
}

function lengthError(prepared: PreparedResponse): HttpError {
  return new HttpError(
    "ERR_HTTP_CONTENT_LENGTH",
    `the body does not have the length of its Content-Length, ${contentLength(prepared)}`,
  );
}

function contentLength({ headers }: PreparedResponse): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index] === "content-length") return headers[index + 1];
  }
  return undefined;
}

function goneReason(): DOMException {
  return new DOMException("the client went away before it had the whole response", "AbortError");
}
