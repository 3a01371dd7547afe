// Parts of names that mean a secret anywhere in the name: `x-api-key`, `user[password]`,
// `accessToken`; names that end with `-key` or `_key`, but for public keys and names of things;
// `x-amzn-oidc-data`, a JWT; `incoming_webhook`, a URL of Slack.
const secretPart =
  /pass(?:word|wd|code|phrase)|secret|credential|token(?!s)|api[-_]?key|access[-_]?key|private[-_]?key|signature|assertion|session(?!s)|cookie|(?:^|[-_.[\]\s])(?:proxy[-_])?(?:auth|authorization|sig|pin|otp|jwt|pwd)(?:$|[-_.[\]\s])|(?<!public|idempotency|websocket|surrogate|cache|sort|partition)[-_]key(?:$|[\]\s])|[-_]pass$|oidc-data$|incoming[-_]?webhook(?:$|[.[\]\s]|[-_]?url)/i;

// In a URL or a form, these are one-time codes of OAuth (RFC 6749, RFC 8628) and keys of APIs. In
// JSON and headers they are codes of errors, states or countries, and names of entries.
const codeName = /(?:^|[[.\s])(?:code|device_code|user_code|code_verifier|key)(?:$|[[\].\s])/i;

// Names with these endings describe a secret, and do not hold one: `token_type`, `token_endpoint`,
// `client_secret_expires_at`.
const description =
  /(?:type|type[-_]?hint|endpoint|supported|alg|auth[-_]?method|details|expires[-_]?(?:in|at))$/;

/**
 * Whether a header or a JSON member with this name holds a secret: `Authorization`,
 * `refresh_token`, `x-api-key`, `sessionId` and `user[password]` do, `token_type` does not. Case
 * does not matter.
 */
export function isSecretName(name: string): boolean {
  const folded = fold(name);
  return secretPart.test(folded) && !description.test(folded);
}

/**
 * Whether a parameter with this name in a query, a fragment or a form holds a secret: the names of
 * {@link isSecretName}, the one-time codes of OAuth, and `key`.
 */
export function isSecretParameter(name: string): boolean {
  return isSecretName(name) || codeName.test(fold(name));
}

/** Folds case, also that of the long s in `paſſword` and of the Kelvin sign in `toKen`. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}
