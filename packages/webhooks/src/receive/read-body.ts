import { BodyTooLargeError, readBody } from "@fetchwork/kit";
import { bodyError, type BodyLimits } from "./body-error.ts";
import { WebhookError } from "../errors.ts";
import type { UnverifiedBody } from "./unverified-budget.ts";

/**
 * Reads the bytes of a request, and stops as soon as they are too many or take too long.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_TIMEOUT`,
 *   `ERR_WEBHOOKS_BODY_BUDGET`, `ERR_WEBHOOKS_BODY`
 */
export async function readWebBody(
  request: Request,
  { maxBody, timeout }: BodyLimits,
  unverified: UnverifiedBody,
): Promise<Uint8Array> {
  const { body } = request;
  if (request.bodyUsed || body?.locked === true) throw bodyError("ERR_WEBHOOKS_BODY_USED");
  if (Number(request.headers.get("content-length") ?? 0) > maxBody) {
    throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
  }
  const stop = new AbortController();
  unverified.onRefused = (error) => stop.abort(error);
  const late = (): void => stop.abort(bodyError("ERR_WEBHOOKS_BODY_TIMEOUT"));
  const timer = timeout === Infinity ? undefined : setTimeout(late, timeout);
  try {
    return await readBody(body, {
      limit: maxBody,
      signal: stop.signal,
      onSize: (size) => unverified.grow(size),
    });
  } catch (cause) {
    if (cause instanceof WebhookError) throw cause;
    if (cause instanceof BodyTooLargeError) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
    throw bodyError("ERR_WEBHOOKS_BODY", cause);
  } finally {
    clearTimeout(timer);
  }
}
