import { WebhookUsageError } from "../errors.ts";

const encoder = new TextEncoder();

/**
 * Encodes a secret as UTF-8.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET`
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  if (typeof secret === "string" && secret !== "") return encoder.encode(secret);
  throw secretError("a secret must be a non-empty string");
}

/** Makes the error for an invalid secret. The message must not contain a part of it. */
export function secretError(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_SECRET", message);
}
