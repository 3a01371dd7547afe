import { InvalidResponseError } from "./errors.ts";

const empty: Uint8Array = new Uint8Array();

/**
 * Reads a body whole, and stops when it is larger than allowed.
 *
 * @param trusted whether the response is the platform's own, whose `Content-Length` holds
 * @throws InvalidResponseError `ERR_OAUTH_RESPONSE_TOO_LARGE`
 */
export async function readBody(
  response: Response,
  maxBytes: number,
  trusted = false,
): Promise<Uint8Array> {
  const { body, headers } = response;
  if (body === null) return empty;
  const length = headers.get("content-length");
  const announced = length === null ? Number.NaN : Number(length);
  if (announced > maxBytes) {
    void body.cancel().catch(ignore);
    throw tooLarge(maxBytes);
  }
  if (trusted && announced <= maxBytes && !headers.has("content-encoding")) {
    return new Uint8Array(await response.arrayBuffer());
  }
  return readChunks(body, maxBytes);
}

async function readChunks(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      void reader.cancel().catch(ignore);
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : join(chunks, size);
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

function tooLarge(maxBytes: number): InvalidResponseError {
  return new InvalidResponseError(`the answer is larger than ${maxBytes} bytes`, {
    code: "ERR_OAUTH_RESPONSE_TOO_LARGE",
  });
}

/** The answer is given up; that giving up failed concerns nobody. */
function ignore(): void {}
