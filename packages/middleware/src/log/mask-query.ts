import { isSecretParameter, maskForm, maskUrl } from "@fetchwork/kit";

const label = "********";
/** The log line of the specification shows this one; `keys` can name it. */
const shown = "key";

/**
 * Makes a function that replaces the values of secret query parameters of a URL or path by
 * `********`. User name and password in a URL are replaced too. Everything else stays as it was,
 * byte for byte, in its order.
 *
 * Secret are the parameters that `isSecretParameter` of `@fetchwork/kit` knows (passwords, tokens,
 * keys, signatures, sessions, one-time codes of OAuth), and those of `keys`. Names are compared
 * without case, percent-decoded, and each part of a name such as `user[pin]` or `user.pin` counts.
 * Works in linear time.
 *
 * @param keys - Names of more secret parameters. Default: none.
 */
export function queryMasker(keys: readonly string[] = []): (url: string) => string {
  const own = new Set(keys.map(fold));
  const isSecret = (name: string): boolean =>
    (isSecretParameter(name) && fold(name) !== shown) ||
    (own.size > 0 && name.split(/[[\].\s\0]+/).some((part) => own.has(fold(part))));
  const options = { label, isSecret };
  return (url) => {
    const start = url.indexOf("?") + 1;
    // Two slashes in a path do not start an authority, and an @ after them does not end a password.
    if (!url.startsWith("/")) return maskUrl(url, options);
    return start === 0 ? url : url.slice(0, start) + maskForm(url.slice(start), options);
  };
}

/** Case folding that also knows the long s and the Kelvin sign. */
function fold(text: string): string {
  return text.toUpperCase().toLowerCase();
}
