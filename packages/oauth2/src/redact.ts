import { emptyHash } from "./empty-hash.ts";
import { filteredKeys, settings } from "./settings.ts";
import { snakeCase } from "./snake-case.ts";

/** Parts of names of headers that hold credentials. */
const secretHeader =
  /auth|token|secret|cookie|dpop|credential|session|api-?key|password|signature|^www-authenticate$/;

/** Whether a header, by its lower-case name, holds credentials. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name);
}

/** Values of a request that are secret by the names of its headers and of the fields of its query. */
export function secretsOfRequest(url: string, headers: Headers | undefined): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of headers ?? []) {
    if (!isSecretHeader(name)) continue;
    // The credentials alone as well, without their scheme or the name of the cookie.
    const parts = name === "cookie" ? value.split(/;\s*/) : [value];
    for (const part of parts) secrets.push(part, part.replace(/^[^\s=]+[\s=]/, ""));
  }
  if (!URL.canParse(url)) return secrets;
  for (const [name, value] of new URL(url).searchParams) {
    if (isFilteredKey(name)) secrets.push(value);
  }
  return secrets;
}

/** Whether the values of a field, in any spelling of its name, are not to be shown. */
export function isFilteredKey(key: string): boolean {
  return filteredKeys().has(snakeCase(key));
}

/**
 * Replaces the values of filtered keys in a hash or list, in all depths. A string that is a whole form or JSON is left
 * alone: see {@link redactText}.
 */
export function redact(value: unknown): unknown {
  return redactValue(value, 0);
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > 20) return settings().filteredLabel;
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, depth + 1));
  return redactHash(value, depth);
}

/** Replaces the values of filtered keys in a hash, in all depths. */
export function redactHash(value: object, depth = 0): Record<string, unknown> {
  const result = emptyHash();
  for (const [key, inner] of Object.entries(value)) {
    const hidden = isFilteredKey(key) && inner !== null && inner !== undefined;
    result[key] = hidden ? settings().filteredLabel : redactValue(inner, depth + 1);
  }
  return result;
}

/** Shows a URL without its user information, and without the values of filtered keys in its query and fragment. */
export function redactUrl(url: string | URL): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  if (shown.search.length > 1) shown.search = redactForm(shown.search.slice(1));
  if (shown.hash.length > 1) shown.hash = redactForm(shown.hash.slice(1));
  return shown.href;
}

/** Replaces the values of filtered keys in a form. */
export function redactForm(form: string): string {
  const label = settings().filteredLabel;
  return form
    .split("&")
    .map((pair) => {
      const end = pair.indexOf("=");
      return end >= 0 && isFilteredKey(decoded(pair.slice(0, end)))
        ? `${pair.slice(0, end)}=${label}`
        : pair;
    })
    .join("&");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/**
 * Replaces secrets in a body: in JSON and forms by key; in other text, whatever looks like a filtered key with a value,
 * a JWT, or is one of `known`.
 */
export function redactText(text: string, known: readonly string[] = []): string {
  const safe = redactKnown(redactByShape(text), known);
  return safe.length > 65_536 ? `${safe.slice(0, 65_536)}... (${safe.length} characters)` : safe;
}

function redactByShape(text: string): string {
  const first = /^\s*[[{]/.test(text);
  if (first) {
    try {
      return JSON.stringify(redact(JSON.parse(text)), (_key, value: unknown) =>
        typeof value === "string" && value !== text ? redactByShape(value) : value,
      );
    } catch {
      return redactLoose(text);
    }
  }
  return /^[^\s=<>]+=[^\s<>]*$/.test(text) ? redactLoose(redactForm(text)) : redactLoose(text);
}

const pairs =
  /([A-Za-z_][\w.-]{0,63})(["']?[ \t]{0,4}(?:=>|[=:>])[ \t]{0,4})("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s&,;<>"'}\]]+)/g;
const jwt = /(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*){1,3}/g;

function redactLoose(text: string): string {
  const label = settings().filteredLabel;
  return text
    .replace(jwt, label)
    .replace(
      pairs,
      (all, ...[key, between, , at, whole]: [string, string, string, number, string]) => {
        const isDone = whole.startsWith(label, at + key.length + between.length);
        return isFilteredKey(key) && !isDone ? `${key}${between}${label}` : all;
      },
    );
}

/** Replaces values wherever they stand, as they are and percent-encoded. */
export function redactKnown(text: string, known: readonly string[]): string {
  const label = settings().filteredLabel;
  return known
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
    .reduce((shown, secret) => shown.replaceAll(secret, label), text);
}
