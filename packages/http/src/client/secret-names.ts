// Parts of names that say "secret" wherever they stand: `x-api-key`, `refresh_token`, `user[password]`.
const secretPart =
  /pass(?:word|wd|phrase)|secret|credential|token|api[-_]?key|access[-_]?key|private[-_]?key|signature|assertion|session|cookie|^authorization$|^proxy-authorization$|^auth$|^code$|^sig$|^pin$|^otp$|^jwt$/i;

/** Whether a header, query parameter or JSON field of that name holds a secret; no log shows its value. */
export function isSecretName(name: string): boolean {
  return secretPart.test(name);
}

/** Whether a header tells a server who the client is: such headers do not follow a redirect to another origin. */
export function isCredentialHeader(name: string): boolean {
  return isSecretName(name) || name === "www-authenticate" || name.startsWith("x-auth");
}
