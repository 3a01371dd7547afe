import { BodyShare, BodyTooLargeError, readBody } from "@fetchwork/kit";
import { bodyReaders, define } from "./fast-response.ts";

/** The body of a request is larger than a limit of the server. */
export class RequestTooLargeError extends BodyTooLargeError {
  /** Status for Fastify and Express, which do not read `status`. */
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
 * Makes a platform's message that is read whole keep the limits of the server that received its
 * body. The platform itself has no limit.
 *
 * @param body - The body that the message was made with.
 */
export function limitWholeReads(message: Request | Response, body: ReadableStream): void {
  const share = BodyShare.of(body);
  if (share !== undefined) defineReaders(message, share.limit, share);
}

function defineReaders(message: Request | Response, limit: number, share?: BodyShare): void {
  const readResponse = async (): Promise<Response> => {
    if (message.bodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    const bytes = await readWhole(message.body, limit, share);
    const type = message.headers.get("content-type");
    return new Response(bytes, { headers: type === null ? [] : [["content-type", type]] });
  };
  for (const name of bodyReaders) {
    define(message, name, async () => (await readResponse())[name]());
  }
  const clone = message.clone.bind(message);
  define(message, "clone", () => {
    const copy = clone();
    defineReaders(copy, limit);
    return copy;
  });
}
