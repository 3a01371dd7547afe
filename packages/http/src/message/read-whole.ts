import { BodyShare, BodyTooLargeError, readBody } from "@fetchwork/kit";

/** The body of a request is larger than a limit of the server. */
export class RequestTooLargeError extends BodyTooLargeError {
  /** What Fastify and Express ask for, where `status` is not enough. */
  readonly statusCode = 413;
}

/**
 * Reads the body of a request whole within the server's limit.
 *
 * @throws RequestTooLargeError
 */
export async function readWhole(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  share: BodyShare | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readBody(body, { limit, share });
  } catch (error) {
    throw toRequestError(error);
  }
}

/** Makes the server's error of one of the kit. */
export function toRequestError(error: unknown): Error {
  if (error instanceof BodyTooLargeError) return new RequestTooLargeError(error.limit);
  return error instanceof Error ? error : new Error("the body failed", { cause: error });
}

/**
 * Makes a platform's request that is read whole keep the limits of the server that received its body. The platform itself
 * has no limit.
 *
 * @param body - The body that the request was made with.
 */
export function limitWholeReads(request: Request, body: ReadableStream): void {
  const share = BodyShare.of(body);
  if (share !== undefined) defineReaders(request, share.limit, share);
}

const readers = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

function defineReaders(request: Request, limit: number, share?: BodyShare): void {
  const readResponse = async (): Promise<Response> => {
    if (request.bodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    const bytes = await readWhole(request.body, limit, share);
    const type = request.headers.get("content-type");
    return new Response(bytes, { headers: type === null ? [] : [["content-type", type]] });
  };
  for (const name of readers) {
    define(request, name, async () => (await readResponse())[name]());
  }
  define(request, "clone", () => {
    const copy = Request.prototype.clone.call(request);
    defineReaders(copy, limit);
    return copy;
  });
}

function define(request: Request, name: string, value: () => unknown): void {
  Object.defineProperty(request, name, { value, configurable: true, writable: true });
}
