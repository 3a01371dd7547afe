import { readBody } from "@fetchwork/kit";
import { bodyError, WebhookError } from "../errors.ts";
import type { UnverifiedBody } from "./unverified-budget.ts";

/**
 * Reads the bytes of a request within the limits of its body.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_TIMEOUT`,
 *   `ERR_WEBHOOKS_BODY_BUDGET`, `ERR_WEBHOOKS_BODY`
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
      limit: Infinity,
      signal: refusal.signal,
      onSize: (size) => unverified.grow(size),
    });
  } catch (cause) {
    throw cause instanceof WebhookError ? cause : bodyError("ERR_WEBHOOKS_BODY", cause);
  }
}
