// Parts of names that say "secret" wherever they stand: `x-api-key`, `refresh_token`, `user[password]`, `accessToken`.
const secretPart =
  /pass(?:word|wd|code|phrase)|secret|credential|token(?!s)|api[-_]?key|access[-_]?key|private[-_]?key|signature|assertion|session(?!s)|cookie|(?:^|[-_.[\]\s])(?:proxy[-_])?(?:auth|authorization|sig|pin|otp|jwt|pwd)(?:$|[-_.[\]\s])/i;

// In a URL or a form, these are one-time codes of OAuth (RFC 6749, RFC 8628). Elsewhere they are what an API calls its
// error, its status or its country.
const codeName = /(?:^|[[.\s])(?:code|device_code|user_code|code_verifier)(?:$|[[\].\s])/i;

// What ends like this describes a secret and is not one: `token_type`, `token_endpoint`, `client_secret_expires_at`.
const description =
  /(?:type|type[-_]?hint|endpoint|supported|alg|auth[-_]?method|details|expires[-_]?(?:in|at))$/;

/**
 * Whether a header or a member of JSON of that name holds a secret, such as `Authorization`, `refresh_token`,
 * `x-api-key`, `sessionId` or `user[password]`, and not `token_type`. Compared without regard to case.
 */
export function isSecretName(name: string): boolean {
  const folded = fold(name);
  return secretPart.test(folded) && !description.test(folded);
}

/**
 * Whether a parameter of that name in a query, a fragment or a form holds a secret: what {@link isSecretName} says, and
 * the one-time codes of OAuth.
 */
export function isSecretParameter(name: string): boolean {
  return isSecretName(name) || codeName.test(fold(name));
}

/** Case folding that also knows the long s and the Kelvin sign, which are letters of `paſſword` and `toKen`. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}
