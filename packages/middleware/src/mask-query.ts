/** Names of query parameters whose values no log shows. */
export const secretKeys: readonly string[] = Object.freeze([
  "password",
  "passwd",
  "secret",
  "credentials",
  "token",
  "access_token",
  "refresh_token",
  "id_token",
  "client_secret",
  "client_assertion",
  "api_key",
  "apikey",
]);

/**
 * Makes a function that replaces the values of secret query parameters of a URL, or of a path with a query, by
 * `********`. Everything else stays as it was, byte for byte, in its order.
 *
 * Names are compared without case, percent-decoded, and each part of a name such as `user[password]` or `user.token`
 * counts. Parameters may be separated by `;` too, as some servers read them. Works in linear time.
 *
 * @param keys - Default: {@link secretKeys}.
 */
export function queryMasker(keys: readonly string[] = secretKeys): (url: string) => string {
  const secrets = new Set(keys.map(fold));
  const isSecret = (key: string): boolean =>
    plainKey.test(key)
      ? secrets.has(key.toLowerCase())
      : decode(key)
          .split(/[[\].\s\0]+/)
          .some((part) => secrets.has(fold(part)));
  // After a secret, a semicolon may belong to its value, so everything up to the next ampersand goes.
  const maskPair = (pair: string): string => {
    for (let start = 0; start < pair.length;) {
      const end = pair.indexOf(";", start);
      const parameter = pair.slice(start, end === -1 ? undefined : end);
      const equals = parameter.indexOf("=");
      if (equals !== -1 && isSecret(parameter.slice(0, equals))) {
        return `${pair.slice(0, start + equals + 1)}********`;
      }
      if (end === -1) break;
      start = end + 1;
    }
    return pair;
  };
  return (url) => {
    const start = url.indexOf("?") + 1;
    if (start === 0 || !url.includes("=", start)) return url;
    const hash = url.indexOf("#", start);
    const end = hash === -1 ? url.length : hash;
    const query = url.slice(start, end).split("&").map(maskPair).join("&");
    return url.slice(0, start) + query + url.slice(end);
  };
}

const plainKey = /^[\w-]*$/;

/** Case folding that also knows the long s and the Kelvin sign. */
function fold(text: string): string {
  return text.toUpperCase().toLowerCase();
}

function decode(key: string): string {
  const spaced = key.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Not UTF-8, or not hexadecimal: what can be decoded is, as servers do.
    return spaced.replace(/%[\da-fA-F]{2}/g, (escape) =>
      String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
    );
  }
}
