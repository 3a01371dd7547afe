import { createHash, timingSafeEqual } from "node:crypto";

/** Makes a check against a secret that takes the same time for every value, whatever its length. */
export function secretMatcher(secret: string): (value: string) => boolean {
  const expected = digest(secret);
  return (value) => timingSafeEqual(digest(value), expected);
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}
