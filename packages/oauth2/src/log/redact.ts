import { isSecretName, isSecretParameter, maskForm, maskJson } from "@fetchwork/kit";
import { filteredKeys, processSettings } from "../process-settings.ts";
import { snakeCase } from "../snake-case.ts";

/** Whether a header holds credentials; the name is in lower case. */
export function isSecretHeader(name: string): boolean {
  return isSecretName(name) || /auth|dpop|token|session/.test(name);
}

/** Secret in a URL or form; in JSON an API may use these names for error, status or result. */
const secretParameters: ReadonlySet<string> = new Set([
  "code",
  "state",
  "nonce",
  "request",
  "response",
]);

/** Whether the values of a query, fragment or form parameter, in any spelling, are hidden. */
export function isFilteredKey(key: string): boolean {
  const name = snakeCase(key);
  return filteredKeys().has(name) || secretParameters.has(name) || isSecretParameter(key);
}

/** Whether the values of a member of an object or of JSON, in any spelling, are hidden. */
export function isFilteredMember(key: string): boolean {
  return filteredKeys().has(snakeCase(key)) || isSecretName(key);
}

/** Values of a request that are secret by the names of its headers and query parameters. */
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

/** Replaces secrets in JSON at all depths: values of filtered members, and secrets in text. */
export function redactValue(value: unknown, known: readonly string[] = []): unknown {
  const masked = maskJson(value, { label: filteredLabel(), isSecret: isFilteredMember });
  const text = JSON.stringify(masked, (_name, member: unknown) =>
    typeof member === "string" ? redactText(member, known) : member,
  );
  return JSON.parse(text) as unknown;
}

/** Replaces the values of filtered parameters of a form. */
export function redactForm(form: string): string {
  return maskForm(form, { label: filteredLabel(), isSecret: isFilteredKey });
}

/**
 * Replaces secrets in text: values that are known; in JSON the values of filtered members; in URLs
 * and forms, wherever they stand, those of filtered parameters; in running text whatever looks like
 * a filtered key with a value, or a JWT.
 */
export function redactText(text: string, known: readonly string[] = []): string {
  const safe = redactKnown(redactJson(text, known) ?? redactWords(text, known), known);
  return safe.length > 65_536 ? `${safe.slice(0, 65_536)}... (${safe.length} characters)` : safe;
}

/**
 * Replaces secrets in what an error shows: its message, its stack, its properties and its causes.
 * Returns the error itself when it shows none, else another one with its name, its code and its
 * message. A cause that leads back to an error is left out.
 *
 * @param outer - Errors that this one is a cause of. Default: none.
 */
export function redactError(
  error: unknown,
  known: readonly string[],
  outer: readonly unknown[] = [],
): unknown {
  if (!(error instanceof Error))
    return typeof error === "string" ? redactText(error, known) : error;
  if (outer.includes(error)) return undefined;
  const inside = [...outer, error];
  const cause = redactError(error.cause, known, inside);
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const errors = all.map((inner) => redactError(inner, known, inside));
  const isSame = cause === error.cause && errors.every((inner, index) => inner === all[index]);
  const shown = showError(error);
  if (isSame && redactText(shown, known) === shown) return error;
  const message = redactText(error.message, known);
  const options = cause === undefined ? {} : { cause };
  const safe =
    all.length === 0 ? new Error(message, options) : new AggregateError(errors, message, options);
  safe.name = error.name;
  safe.stack = redactText(error.stack ?? "", known);
  return "code" in error ? Object.assign(safe, { code: error.code }) : safe;
}

function showError(error: Error): string {
  const properties = Object.values(error).filter((value) => typeof value === "string");
  return [error.name, error.message, error.stack ?? "", ...properties].join("\n");
}

/** Replaces values wherever they stand, in any spelling of URLs, forms and JSON. */
function redactKnown(text: string, known: readonly string[]): string {
  let shown = text;
  for (const secret of known) {
    if (secret.length <= 3) continue;
    for (const spelling of spellings(secret)) shown = shown.replaceAll(spelling, filteredLabel);
  }
  return shown;
}

function spellings(secret: string): ReadonlySet<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  // The last one is a form that was decoded as a URL.
  const plus = secret.replaceAll(" ", "+");
  return new Set([secret, json, encodeURIComponent(secret.toWellFormed()), form, plus]);
}

/** Text in the place of a secret. A function, so that no `$` in the label has a meaning. */
export function filteredLabel(): string {
  return processSettings().filteredLabel;
}

function redactJson(text: string, known: readonly string[]): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(redactValue(JSON.parse(text), known));
  } catch {
    // Not JSON, or nested too deeply to be written.
    return undefined;
  }
}

/** A URL, a form, or a word of running text. */
const word = /[^\s<>"]+/g;
const jwt = /(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*){1,3}/g;
const userInfo = /(?<=\/\/)[^\s/?#<>"]+(?=@)/g;
const encodedUserInfo = /(?<=(?:%(?:25)*2F){2})(?:(?!%(?:25)*2F)[^\s&<>"])+(?=%(?:25)*40)/gi;

function redactWords(text: string, known: readonly string[]): string {
  const shown = redactKnown(text, known)
    .replace(jwt, filteredLabel)
    .replace(userInfo, filteredLabel)
    .replace(encodedUserInfo, filteredLabel);
  return redactPairs(shown).replace(word, (part) => redactEncoded(part, known));
}

/** Shows a word decoded where an encoding, of up to three levels, hides a known value. */
function redactEncoded(part: string, known: readonly string[], levels = 3): string {
  if (levels === 0 || known.length === 0 || !part.includes("%")) return part;
  const decoded = decode(part);
  if (decoded === part) return part;
  const inner = redactEncoded(redactKnown(decoded, known), known, levels - 1);
  return inner === decoded ? part : inner;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Between a key and its value: `token: x`, `"token" => "x"`, `<token>x`, `token%3Dx`. */
const separators = /=>|[=:>]|%(?:25)*3D/gi;
const keyBefore = /([^\s&?#/;,"'=:<>()[\]{}+]{1,64})\]?["']?[ \t]{0,4}$/;
const valueAfter =
  /[ \t]{0,4}(?:"(?:[^"\\]|\\.)*"?|'[^']*'?[^\s&<>"]*|(?:(?:bearer|basic|dpop)[ \t]{1,4})?[^\s&<>"]+)/iy;

/** Masks values after a filtered key, also within values of URLs and forms, in any encoding. */
function redactPairs(text: string): string {
  const label = filteredLabel();
  let shown = "";
  let done = 0;
  separators.lastIndex = 0;
  for (let match; (match = separators.exec(text)) !== null;) {
    if (!isFilteredPair(text.slice(Math.max(done, match.index - 100), match.index), match[0]))
      continue;
    valueAfter.lastIndex = separators.lastIndex;
    if (!valueAfter.test(text)) continue;
    shown += text.slice(done, separators.lastIndex) + label;
    done = valueAfter.lastIndex;
    separators.lastIndex = done;
  }
  return shown + text.slice(done);
}

function isFilteredPair(before: string, separator: string): boolean {
  // `%2525` is a percent sign too.
  const parameter = before.slice(before.lastIndexOf("&") + 1).replace(/%(?:25)+/g, "%");
  const plain = parameter.includes("%")
    ? new URLSearchParams(`key=${parameter}`).get("key")
    : parameter;
  const key = keyBefore.exec(plain ?? "")?.[1];
  if (key === undefined) return false;
  // In text, only the names that are listed: `invalid_token: it has expired` is a sentence.
  const isParameter = separator === "=" || separator.startsWith("%");
  return isParameter ? isFilteredKey(key) : filteredKeys().has(snakeCase(key));
}
