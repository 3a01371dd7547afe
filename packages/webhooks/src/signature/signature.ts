import { WebhookUsageError } from "../errors.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import type { SignatureScheme } from "../signature-scheme.ts";

const scheme: SignatureScheme = /* @__PURE__ */ hmacScheme();
const encoder = new TextEncoder();

/**
 * Signs a payload: `sha256=` and the HMAC-SHA256 of its bytes in 64 lower-case hex digits.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` when secret or payload are missing or an empty text
 */
export async function sign(secret: string, payload: string | Uint8Array): Promise<string> {
  checkText("secret", secret);
  const headers = await scheme
    .createKey(secret)
    .sign({ id: "", timestamp: 0, body: toBytes(payload) });
  return headers[scheme.signatureHeader] ?? "";
}

/**
 * Tells whether a signature is the one that {@link sign} makes. Compares in constant time; a signature of any other form
 * is wrong.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` when secret, payload or signature are missing or an empty text
 */
export async function verify(
  secret: string,
  payload: string | Uint8Array,
  signature: string,
): Promise<boolean> {
  checkText("secret", secret);
  const body = toBytes(payload);
  checkText("signature", signature);
  return scheme.createKey(secret).verify({ headers: { get: () => signature }, body });
}

/**
 * Tells whether a signature is right for a secret, or else for one of others, in their order.
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
    isMissing ? `${what} required` : `${what} is ${typeof value}, expected a text`,
  );
}
