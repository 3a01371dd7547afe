import { constantTimeEqual } from "@fetchwork/kit";
import type { CredentialChecker } from "./basic-auth-options.ts";
import { checkAmount } from "../check-options.ts";

const encoder = new TextEncoder();

/**
 * Skips the checker for credentials that it has just accepted. Keeps only an HMAC of the last ones, under
 * a key that exists in this process only.
 *
 * @param milliseconds - How long a success is remembered; 0 to check every time.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function rememberSuccess(
  checker: CredentialChecker,
  milliseconds: number,
): CredentialChecker {
  checkAmount(milliseconds, "rememberFor", 0);
  if (milliseconds === 0) return checker;
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
      until = performance.now() + milliseconds;
    }
    return isRight;
  };
}

function makeKey(): Promise<CryptoKey> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}
