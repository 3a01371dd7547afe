import { WebhookUsageError } from "../errors.ts";

const encoder = new TextEncoder();

/**
 * The bytes of a secret that is a text.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET`
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  if (typeof secret === "string" && secret !== "") return encoder.encode(secret);
  throw secretError("a secret is empty or no text");
}

/** The error for a secret; never with a part of it. */
export function secretError(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_SECRET", message);
}
