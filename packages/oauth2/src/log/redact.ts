import { isSecretName, isSecretParameter, maskForm, maskUrl } from "@fetchwork/kit";
import { filteredKeys, processSettings } from "../process-settings.ts";
import { snakeCase } from "../snake-case.ts";

/** Whether a header holds credentials; the name is in lower case. */
export function isSecretHeader(name: string): boolean {
  return isSecretName(name) || /auth|dpop|token|session/.test(name);
}

/** Secret in a URL or a form; in JSON an API may use these names for its error, status or result. */
const secretParameters: ReadonlySet<string> = new Set([
  "code",
  "state",
  "nonce",
  "request",
  "response",
]);

/** Whether the values of a parameter of a query, a fragment or a form, in any spelling of its name, are not shown. */
export function isFilteredKey(key: string): boolean {
  const name = snakeCase(key);
  return filteredKeys().has(name) || secretParameters.has(name) || isSecretParameter(key);
}

/** Whether the values of a member of an object or of JSON, in any spelling of its name, are not shown. */
export function isFilteredMember(key: string): boolean {
  return filteredKeys().has(snakeCase(key)) || isSecretName(key);
}

/** Values of a request that are secret by the names of its headers and of the parameters of its query. */
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

/** Replaces secrets in an object, at all depths: the values of filtered members, and secrets in text. */
export function redactHash(
  hash: Readonly<Record<string, unknown>>,
  known: readonly string[] = [],
): Record<string, unknown> {
  return redactMembers(hash, { known, depth: 0 });
}

/** Replaces secrets in a URL, absolute or not: its user information, and what {@link redactText} finds. */
export function redactUrl(url: string | URL, known: readonly string[] = []): string {
  return redactText(String(url), known);
}

/** Replaces the values of filtered parameters of a form. */
export function redactForm(form: string): string {
  return maskForm(form, { label: filteredLabel(), isSecret: isFilteredKey });
}

/**
 * Replaces secrets in text: values that are known; in JSON the values of filtered members; in URLs and forms, wherever
 * they stand, those of filtered parameters; in running text whatever looks like a filtered key with a value, or a JWT.
 */
export function redactText(text: string, known: readonly string[] = []): string {
  const safe = redactKnown(redactByShape(text, { known, depth: 0 }), known);
  return safe.length > 65_536 ? `${safe.slice(0, 65_536)}... (${safe.length} characters)` : safe;
}

/**
 * Replaces secrets in what an error shows: its message, its stack, its properties and its causes. Returns the error
 * itself when it shows none, else another one with its name, its code and its message. A cause that leads back to an error
 * is left out.
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
export function redactKnown(text: string, known: readonly string[]): string {
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

/** Where a secret may be found, and how deep in what is being shown. */
interface Search {
  readonly known: readonly string[];
  readonly depth: number;
}

/** Deepest nesting that is shown. */
const maxDepth = 20;

/** A function, so that no `$` in the label has a meaning. */
function filteredLabel(): string {
  return processSettings().filteredLabel;
}

function redactValue(value: unknown, search: Search): unknown {
  if (typeof value === "string") return redactByShape(value, search);
  if (typeof value !== "object" || value === null) return value;
  if (search.depth > maxDepth) return filteredLabel();
  const inner = { ...search, depth: search.depth + 1 };
  if (Array.isArray(value)) return value.map((item) => redactValue(item, inner));
  return redactMembers(value, inner);
}

function redactMembers(hash: object, search: Search): Record<string, unknown> {
  const entries = Object.entries(hash).map(([key, value]): readonly [string, unknown] => {
    const isHidden = isFilteredMember(key) && value !== null && value !== undefined;
    return [key, isHidden ? filteredLabel() : redactValue(value, search)];
  });
  return Object.fromEntries(entries);
}

function redactByShape(text: string, search: Search): string {
  const json = search.depth > maxDepth ? undefined : parseContainer(text);
  if (json !== undefined) {
    return JSON.stringify(redactValue(json, { ...search, depth: search.depth + 1 }));
  }
  const pairs = redactPairs(redactKnown(text, search.known).replace(jwt, filteredLabel));
  return pairs.replace(words, (word) => redactWord(word, search.known));
}

function parseContainer(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const jwt = /(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*){1,3}/g;

/** What a URL or a form in running text is part of. */
const words = /[^\s<>"]+/g;

function redactWord(word: string, known: readonly string[]): string {
  const masked = maskWord(word, known, 3);
  const label = filteredLabel();
  // The value of the last parameter follows in quotes, and is masked.
  return word.endsWith("=") && masked.endsWith(label) ? masked.slice(0, -label.length) : masked;
}

/** Masks a URL or form; what is percent-encoded in a parameter is shown decoded if it has a secret. */
function maskWord(word: string, known: readonly string[], levels: number): string {
  const masked = maskParameters(word);
  if (levels === 0 || !masked.includes("%")) return masked;
  const decoded = decode(masked);
  if (decoded === masked) return masked;
  const inner = maskWord(redactKnown(decoded, known), known, levels - 1);
  return inner === decoded ? masked : inner;
}

const userInfo = /:\/\/[^/?#]*@/g;

/** URLs in a URL that are looked at. */
const maxQueries = 8;

function maskParameters(word: string): string {
  if (!word.includes("=") && !word.includes("://")) return word;
  const options = { label: filteredLabel(), isSecret: isFilteredKey };
  if (!/[?#]|:\/\//.test(word)) return maskForm(word, options);
  // A URL may stand behind a bracket or in a value, where it is not seen as one.
  let masked = maskUrl(word, options).replace(userInfo, () => `://${options.label}@`);
  // A parameter may hold a URL that is not encoded.
  let mark = masked.indexOf("?");
  for (let count = 0; mark !== -1 && count < maxQueries; count += 1) {
    masked = masked.slice(0, mark + 1) + maskForm(masked.slice(mark + 1), options);
    mark = masked.indexOf("?", mark + 1);
  }
  return masked;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const keyWithSeparator = /([A-Za-z_][\w.-]{0,63})(\]?["']?[ \t]{0,4}(?:=>|[=:>])[ \t]{0,4})/g;
const pairValue =
  /"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:(?:bearer|basic|dpop)[ \t]{1,4})?[^\s&,;<>"'}\]]+/iy;

/** Masks values in running text that follow a filtered key: `token: x`, `"token" => "x"`, `<token>x`. */
function redactPairs(text: string): string {
  const label = filteredLabel();
  let shown = "";
  let done = 0;
  keyWithSeparator.lastIndex = 0;
  for (let match; (match = keyWithSeparator.exec(text)) !== null;) {
    const [, key = "", separator = ""] = match;
    const start = keyWithSeparator.lastIndex;
    // In text, only the names that are listed: `invalid_token: it has expired` is a sentence.
    const isParameter = /^\]?["']?\s*=\s*$/.test(separator);
    if (!(isParameter ? isFilteredKey(key) : filteredKeys().has(snakeCase(key)))) continue;
    pairValue.lastIndex = start;
    const isMasked = text.startsWith(label, start);
    if (!isMasked && !pairValue.test(text)) continue;
    const end = isMasked ? start + label.length : pairValue.lastIndex;
    shown += text.slice(done, start) + label;
    done = end;
    keyWithSeparator.lastIndex = end;
  }
  return shown + text.slice(done);
}
