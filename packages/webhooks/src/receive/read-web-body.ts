import { readBody } from "@fetchwork/kit";
import { bodyError } from "../errors.ts";
import { readingError, type UnverifiedBody } from "./unverified-body.ts";

/**
 * Reads the bytes of a request within the limits of its body.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`,
 *   `ERR_WEBHOOKS_BODY_TIMEOUT`, `ERR_WEBHOOKS_BODY_BUDGET`, `ERR_WEBHOOKS_BODY`
 */
export async function readWebBody(
  request: Request,
  unverified: UnverifiedBody,
): Promise<Uint8Array> {
  const { body, bodyUsed } = request;
  if (bodyUsed || body?.locked === true) throw bodyError("ERR_WEBHOOKS_BODY_USED");
  const refusal = new AbortController();
  unverified.start((error) => refusal.abort(error));
  try {
    return await readBody(body, {
      limit: unverified.share.limit,
      signal: refusal.signal,
      share: unverified.share,
    });
  } catch (cause) {
    throw readingError(cause);
  }
}
