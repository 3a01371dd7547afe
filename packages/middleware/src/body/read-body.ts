import { deriveRequest } from "@fetchwork/http";
import {
  BodyBudgetError,
  BodyShare,
  BodyTooLargeError,
  readBody as readUpTo,
} from "@fetchwork/kit";
import { MiddlewareError } from "../errors.ts";

/** The result of reading a body: its bytes, or why it could not be read. */
export type ReadBody =
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly failure: "too large" | "unreadable"; readonly cause: unknown };

/**
 * Reads a whole body, and stops as soon as it is larger than `limit` bytes. Counts the bytes that
 * arrive; a declared length only refuses early.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_BODY_USED` when somebody else has read the body
 * @throws BodyBudgetError when the server has too many bytes of bodies in memory; as a response it
 * is a 503
 */
export async function readBody(message: Request | Response, limit: number): Promise<ReadBody> {
  const tooLarge: ReadBody = { failure: "too large", cause: undefined };
  const declared = declaredLength(message.headers);
  const { body } = message;
  if (message.bodyUsed || body?.locked === true) {
    throw new MiddlewareError(
      "ERR_MIDDLEWARE_BODY_USED",
      "the body is used; read it only once, after the middlewares that look at it",
    );
  }
  if (body === null) return { bytes: new Uint8Array(0) };
  if (declared !== undefined && declared > limit) {
    // The server can discard the unread body and keep the connection.
    body.cancel().catch(() => undefined);
    return tooLarge;
  }
  try {
    return { bytes: await readUpTo(body, { limit }) };
  } catch (error) {
    if (error instanceof BodyBudgetError) throw error;
    return { failure: isBodyLimitError(error) ? "too large" : "unreadable", cause: error };
  }
}

/**
 * Length that a message declares for its body. It is ignored together with `Transfer-Encoding` (RFC
 * 9112, 6.3): that combination is used to smuggle requests.
 */
export function declaredLength(headers: Headers): number | undefined {
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && !headers.has("transfer-encoding") ? Number(length) : undefined;
}

/** The request with a body that was read, so that the handler finds it whole. */
export function restoreBody(request: Request, bytes: Uint8Array<ArrayBuffer>): Request {
  return deriveRequest(request, {
    body: bytes,
    headers: { "content-length": String(bytes.byteLength) },
  });
}

/** A request that shows no body, without the one of GET or HEAD that a Node application finds. */
export function hideBody(request: Request): Request {
  const { headers } = request;
  const isFramed = headers.has("transfer-encoding") || headers.has("content-length");
  return isFramed ? deriveRequest(request, { body: null }) : request;
}

/** The request with a stream of the same bytes as body. Its declared length stays. */
export function withStream(
  request: Request,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Request {
  // A whole read of the new stream counts in the server's budget too.
  if (request.body !== null) BodyShare.of(request.body)?.attachTo(body);
  const headers: Record<string, string> = {};
  for (const name of ["content-length", "transfer-encoding"]) {
    const value = request.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return deriveRequest(request, { body, headers });
}

/** Maximum depth of causes, which also ends a cycle. */
const maxDepth = 10;

/** Whether an error or one of its causes means that a body exceeds a limit, ours or another. */
export function isBodyLimitError(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < maxDepth && inner instanceof Error; depth += 1) {
    if (inner instanceof BodyTooLargeError) return true;
    inner = inner.cause;
  }
  return false;
}
