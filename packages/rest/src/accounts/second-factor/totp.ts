import { createHmac } from "node:crypto";
import { constantTimeEqual } from "@fetchwork/kit";

/** Seconds of a step. Authenticators take nothing else for granted (RFC 6238 section 4.1). */
const step = 30;
const digits = 6;

/** Makes the code of a step (RFC 6238, with HMAC-SHA-1; RFC 4226 section 5.3). */
export function totpCode(secret: Uint8Array, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const hash = createHmac("sha1", secret).update(message).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  const number = (hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits;
  return String(number).padStart(digits, "0");
}

/** Number of the step at a time, in milliseconds since 1970. */
export function totpStep(time: number): number {
  return Math.floor(time / 1_000 / step);
}

/**
 * Finds the step of a code: that of now, the one before, for slow hands, or the one after, for
 * clocks that go ahead (RFC 6238 section 5.2). `undefined` for any other code.
 */
export function stepOfCode(secret: Uint8Array, code: string, now: number): number | undefined {
  const current = totpStep(now);
  return [current, current - 1, current + 1].find((one) =>
    constantTimeEqual(code, totpCode(secret, one)),
  );
}

/** Makes the address that authenticators read from a QR code. */
export function totpUri(
  secretText: string,
  { account, issuer }: { readonly account: string; readonly issuer: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const parameters = new URLSearchParams({ secret: secretText, issuer, algorithm: "SHA1" });
  return `otpauth://totp/${label}?${String(parameters).replaceAll("+", "%20")}&digits=${digits}&period=${step}`;
}
