import { constantTimeEqual } from "@fetchwork/kit";
import type { CredentialChecker } from "./basic-auth-options.ts";

const encoder = new TextEncoder();
/** In milliseconds. */
const rememberFor = 60_000;

/**
 * Skips the checker for credentials that it has just accepted, because a browser sends them with
 * every request. Keeps only an HMAC of the last ones, under a key that exists in this process only.
 */
export function rememberSuccess(checker: CredentialChecker): CredentialChecker {
  let key: Promise<CryptoKey> | undefined;
  let remembered: Uint8Array | undefined;
  let until = 0;
  return async (user, password) => {
    key ??= makeKey();
    // A user name has no colon, so different credentials are different texts.
    const data = encoder.encode(`${user}:${password}`);
    const tag = new Uint8Array(await crypto.subtle.sign("HMAC", await key, data));
    if (
      remembered !== undefined &&
      performance.now() < until &&
      constantTimeEqual(tag, remembered)
    ) {
      return true;
    }
    const isRight = await checker(user, password);
    if (isRight) {
      remembered = tag;
      until = performance.now() + rememberFor;
    }
    return isRight;
  };
}

function makeKey(): Promise<CryptoKey> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
