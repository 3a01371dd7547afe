import { BodyTooLargeError, readBody as readUpTo } from "@fetchwork/kit";
import { InvalidResponseError } from "../errors.ts";

/**
 * Reads the body of a response, and stops when it is larger than allowed.
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
  const length = headers.get("content-length");
  const announced = length === null ? Number.NaN : Number(length);
  if (announced > maxBytes) {
    // Not awaited and its failure ignored, because the response is abandoned.
    void body?.cancel().catch(() => {});
    throw tooLarge(maxBytes);
  }
  if (trusted && announced <= maxBytes && !headers.has("content-encoding")) {
    return new Uint8Array(await response.arrayBuffer());
  }
  try {
    return await readUpTo(body, { limit: maxBytes });
  } catch (error) {
    throw error instanceof BodyTooLargeError ? tooLarge(maxBytes) : error;
  }
}

function tooLarge(maxBytes: number): InvalidResponseError {
  return new InvalidResponseError(`the response is larger than ${maxBytes} bytes`, {
    code: "ERR_OAUTH_RESPONSE_TOO_LARGE",
  });
}
