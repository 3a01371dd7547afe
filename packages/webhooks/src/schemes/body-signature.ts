import { constantTimeEqual } from "@fetchwork/kit";
import { WebhookUsageError } from "../errors.ts";
import { createHmacKey } from "./hmac-key.ts";

const encoder = new TextEncoder();

/**
 * Signs a payload: `sha256=` and the HMAC-SHA256 of its bytes in 64 lower-case hex digits.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` when secret or payload are missing or an empty
 * text
 */
export async function sign(secret: string, payload: string | Uint8Array): Promise<string> {
  checkText("secret", secret);
  return signatureOf(secret, toBytes(payload));
}

/**
 * Returns whether a signature is the one that {@link sign} makes. Compares in constant time; any
 * other form of signature is invalid.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` when secret, payload or signature are missing
 * or an empty text
 */
export async function verify(
  secret: string,
  payload: string | Uint8Array,
  signature: string,
): Promise<boolean> {
  checkText("secret", secret);
  const body = toBytes(payload);
  checkText("signature", signature);
  return constantTimeEqual(signature, await signatureOf(secret, body));
}

/**
 * Returns whether a signature is valid for a secret, or for one of additional secrets.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` as {@link verify}
 */
export async function verifyWithFallback(
  secret: string,
  payload: string | Uint8Array,
  signature: string,
  additionalSecrets: readonly string[] = [],
): Promise<boolean> {
  for (const candidate of [secret, ...additionalSecrets]) {
    if (await verify(candidate, payload, signature)) return true;
  }
  return false;
}

async function signatureOf(secret: string, body: Uint8Array): Promise<string> {
  return `sha256=${await createHmacKey(encoder.encode(secret), "SHA-256").digest("hex", "", body)}`;
}

function toBytes(payload: unknown): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  checkText("payload", payload);
  return encoder.encode(payload);
}

function checkText(what: string, value: unknown): asserts value is string {
  if (typeof value === "string" && value !== "") return;
  const isMissing = value === undefined || value === null || value === "";
  throw new WebhookUsageError(
    "ERR_WEBHOOKS_ARGUMENT",
    isMissing ? `${what} required` : `${what} must be a string, got ${typeof value}`,
  );
}
