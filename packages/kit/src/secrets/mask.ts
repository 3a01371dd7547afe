import { isSecretName, isSecretParameter } from "./secret-names.ts";

/** How secrets are masked. */
export interface MaskOptions {
  /** Text that replaces a secret value. Default: `***`. */
  readonly label?: string | undefined;
  /** Whether a decoded name is secret. Default: `isSecretParameter`, or `isSecretName` in JSON. */
  readonly isSecret?: ((name: string) => boolean) | undefined;
}

/**
 * Masks the secrets of a URL, absolute or relative: the user information, and the values of secret
 * parameters in the query and the fragment. The rest stays the same, byte for byte. The time is
 * proportional to the length.
 */
export function maskUrl(url: string, options: MaskOptions = {}): string {
  const { label = defaultLabel } = options;
  const hash = url.indexOf("#");
  const withoutFragment = hash === -1 ? url : url.slice(0, hash);
  const fragment = hash === -1 ? "" : `#${maskFragment(url.slice(hash + 1), options)}`;
  const mark = withoutFragment.indexOf("?");
  const place = mark === -1 ? withoutFragment : withoutFragment.slice(0, mark);
  const query = mark === -1 ? "" : `?${maskForm(withoutFragment.slice(mark + 1), options)}`;
  return maskUserInfo(place, label) + query + fragment;
}

/**
 * Masks the values of secret parameters of a query or a form. Names are percent-decoded before they
 * are compared. A `;` separates parameters too, because some servers read it so. The time is
 * proportional to the length.
 */
export function maskForm(form: string, options: MaskOptions = {}): string {
  if (!form.includes("=")) return form;
  const { label = defaultLabel, isSecret = isSecretParameter } = options;
  return form
    .split("&")
    .map((pair) => maskPair(pair, label, isSecret))
    .join("&");
}

/**
 * Masks the values of secret members of a JSON value at any depth, except null. Returns a copy;
 * `toJSON` is applied as by `JSON.stringify`.
 */
export function maskJson(value: unknown, options: MaskOptions = {}): unknown {
  const { label = defaultLabel, isSecret = isSecretName } = options;
  const text = JSON.stringify(value, (name, member: unknown) =>
    member !== null && member !== undefined && isSecret(name) ? label : member,
  ) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/**
 * Masks the values of secret headers, and what is secret in the URLs of all others, such as
 * `Location`, `Referer` and `Link`. Returns an object without prototype from names in lower case to
 * values; several values of one name are joined by a comma and a blank.
 *
 * @param headers - A `Headers`, or pairs of a name and a value.
 */
export function maskHeaders(
  headers: Iterable<readonly [name: string, value: string]>,
  options: MaskOptions = {},
): Readonly<Record<string, string>> {
  const { label = defaultLabel, isSecret = isSecretName } = options;
  const masked = Object.create(null) as Record<string, string>;
  for (const [original, value] of headers) {
    const name = original.toLowerCase();
    const shown = isSecret(name) ? label : maskUrls(value, label);
    masked[name] = name in masked ? `${masked[name]}, ${shown}` : shown;
  }
  return masked;
}

const defaultLabel = "***";

/** Masks each URL of a value; fields separate URLs by characters that no URL has. */
function maskUrls(value: string, label: string): string {
  if (!/[?#@]/.test(value)) return value;
  return value.replace(/[^\s<>"]+/g, (part) => maskUrl(part, { label }));
}

/** A fragment is a form (RFC 6749, 4.2.2), or path and query of a browser application's page. */
function maskFragment(fragment: string, options: MaskOptions): string {
  const mark = fragment.indexOf("?");
  if (mark === -1) return maskForm(fragment, options);
  return `${maskForm(fragment.slice(0, mark), options)}?${maskForm(fragment.slice(mark + 1), options)}`;
}

function maskUserInfo(place: string, label: string): string {
  // Two slashes anywhere else are part of a path.
  const scheme = /^(?:[a-z][a-z\d+.-]*:)?(?=\/\/)/i.exec(place);
  if (scheme === null) return place;
  const start = scheme[0].length;
  const slash = place.indexOf("/", start + 2);
  const end = slash === -1 ? place.length : slash;
  const at = place.lastIndexOf("@", end);
  return at < start + 2 ? place : `${place.slice(0, start + 2)}${label}${place.slice(at)}`;
}

/** Masks everything up to the next ampersand: a semicolon may belong to the secret value. */
function maskPair(pair: string, label: string, isSecret: (name: string) => boolean): string {
  for (let start = 0; start < pair.length;) {
    const end = pair.indexOf(";", start);
    const parameter = pair.slice(start, end === -1 ? undefined : end);
    const equals = parameter.indexOf("=");
    if (equals !== -1 && isSecret(decode(parameter.slice(0, equals)))) {
      return `${pair.slice(0, start + equals + 1)}${label}`;
    }
    if (end === -1) break;
    start = end + 1;
  }
  return pair;
}

function decode(name: string): string {
  const spaced = name.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Invalid UTF-8 or hexadecimal digits. Decode the valid escapes, as servers do.
    return spaced.replace(/%[\da-fA-F]{2}/g, (escape) =>
      String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
    );
  }
}
