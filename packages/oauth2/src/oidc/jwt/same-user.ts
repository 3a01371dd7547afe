import { decodeJwt } from "jose/jwt/decode";
import { TokenValidationError } from "../errors.ts";
import type { IdTokenClaims } from "./verify-id-token.ts";

/**
 * Checks that a refresh gave an ID token of the same user (OpenID Connect Core, 12.2), where both
 * are known.
 *
 * @param before claims of the ID token before, or that token, which was validated when it came
 * @throws TokenValidationError
 */
export function checkSameUser(
  before: IdTokenClaims | string | undefined,
  claims: IdTokenClaims | undefined,
): void {
  const known = typeof before === "string" ? subjectOf(before) : before?.sub;
  if (known === undefined || claims === undefined || known === claims.sub) return;
  throw new TokenValidationError("the sub of the refreshed ID token does not match", {
    claim: "sub",
  });
}

/** The subject of an ID token that was validated before; `undefined` when there is none. */
export function subjectOf(idToken: string | undefined): string | undefined {
  if (idToken === undefined) return undefined;
  try {
    return decodeJwt(idToken).sub;
  } catch {
    return undefined;
  }
}
