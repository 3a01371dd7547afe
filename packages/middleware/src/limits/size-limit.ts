import type { Context, Handler, Middleware } from "@fetchwork/http";
import { empty } from "@fetchwork/http/responses";
import { checkAmount, checkOptions, optionError } from "../check-options.ts";
import { RequestError } from "../errors.ts";
import { declaredLength, hideBody, readBody, restoreBody, withStream } from "../body/read-body.ts";
import { place } from "../order.ts";

/** Options of {@link sizeLimit}. */
export interface SizeLimitOptions {
  /**
   * `buffer` reads the body before the handler runs, so the handler never sees one that is too
   * large. Up to `bytes` are in memory per request; `stream` counts while the handler reads, and
   * breaks the body off. Default: `buffer`.
   */
  readonly mode?: "buffer" | "stream" | undefined;
}

/**
 * Responds with 413 to a body larger than `bytes`, and with 503 when it cannot be read to its end;
 * both without a body. Every body is counted; a `Content-Length` above the limit is refused before
 * anything is read, and is ignored together with `Transfer-Encoding`.
 *
 * In `stream` mode a body over the limit fails with a {@link RequestError} of code
 * `ERR_MIDDLEWARE_BODY_TOO_LARGE`. A handler that fails because of it results in a 413; one that
 * catches the error may respond itself.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function sizeLimit(bytes: number, options: SizeLimitOptions = {}): Middleware {
  checkAmount(bytes, "bytes", 0);
  checkOptions("sizeLimit", options, ["mode"]);
  const { mode = "buffer" } = options;
  if (mode !== "buffer" && mode !== "stream") throw optionError("mode", mode, "buffer or stream");
  const run = mode === "buffer" ? runBuffered : runStreamed;
  return place("sizeLimit", (next) => (request, context) => {
    const length = declaredLength(request.headers);
    if (length !== undefined && length > bytes) return empty(413);
    if (request.body !== null) return run(next, request, context, bytes);
    return next(length === undefined ? hideBody(request) : request, context);
  });
}

async function runBuffered(
  next: Handler,
  request: Request,
  context: Context,
  limit: number,
): Promise<Response> {
  const body = await readBody(request, limit);
  if ("failure" in body) return empty(body.failure === "too large" ? 413 : 503);
  return next(restoreBody(request, body.bytes), context);
}

async function runStreamed(
  next: Handler,
  request: Request,
  context: Context,
  limit: number,
): Promise<Response> {
  const { body } = request;
  if (body === null) return next(request, context);
  const error = new RequestError(
    "ERR_MIDDLEWARE_BODY_TOO_LARGE",
    413,
    `the body is larger than ${limit} bytes`,
  );
  let isExceeded = false;
  const limited = limitStream(body, limit, () => {
    isExceeded = true;
    return error;
  });
  try {
    return await next(withStream(request, limited), context);
  } catch (failure) {
    if (isExceeded) return empty(413);
    throw failure;
  }
}

function limitStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  limit: number,
  exceed: () => Error,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // Requested at the first read: an unread body is left to the server.
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  let size = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        reader ??= body.getReader();
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        size += value.byteLength;
        if (size > limit) {
          const error = exceed();
          controller.error(error);
          reader.cancel(error).catch(() => undefined);
          return;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
