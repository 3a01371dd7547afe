import { isSecretName } from "@fetchwork/kit";
import { HttpUsageError } from "../../errors.ts";
import type { HeaderList } from "../transport/transport.ts";

/** Request headers by name, in any case; a list repeats it, `null` removes a default. */
export type RequestHeaders =
  Readonly<Record<string, HeaderValue>> | Iterable<readonly [name: string, value: HeaderValue]>;

/** A value of a header, or several. */
export type HeaderValue = string | number | null | undefined | readonly string[];

// RFC 9110, 5.6.2 and 5.5: a token; and no control character, which could start another header or
// body.
const tokenPattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Names that were written before, to what they are in lower case. */
const known = new Map<string, string>();
const maxKnown = 500;

/**
 * Makes the list of headers of a request: the given ones, then the defaults that they neither set
 * nor remove.
 *
 * @throws HttpUsageError `ERR_HTTP_HEADER` for a name that is not a token, and a value that is not
 * one line of Latin-1
 */
export function headerList(given: RequestHeaders | undefined, defaults: HeaderList): string[] {
  if (given === undefined) return [...defaults];
  if (typeof given !== "object" || given === null)
    throw new HttpUsageError("ERR_HTTP_HEADER", `headers must be an object, got ${typeof given}`);
  const list: string[] = [];
  const removed: string[] = [];
  if (Symbol.iterator in given) {
    for (const [name, value] of given) add(list, removed, name, value);
  } else {
    for (const name of Object.keys(given)) add(list, removed, name, given[name]);
  }
  for (let index = 0; index < defaults.length; index += 2) {
    const name = defaults[index] ?? "";
    if (removed.includes(name) || hasHeader(list, name)) continue;
    list.push(name, defaults[index + 1] ?? "");
  }
  return list;
}

/** Whether a list has a header of that name, given in lower case. */
export function hasHeader(list: HeaderList, name: string): boolean {
  for (let index = 0; index < list.length; index += 2) {
    if (list[index] === name) return true;
  }
  return false;
}

/** The list without some of its headers. */
export function withoutHeaders(list: HeaderList, isDropped: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] ?? "";
    if (!isDropped(name)) kept.push(name, list[index + 1] ?? "");
  }
  return kept;
}

function add(list: string[], removed: string[], given: string, value: HeaderValue): void {
  if (value === undefined) return;
  const name = lowerCase(given);
  // The later one of two names that differ in case only wins.
  for (let index = list.length - 2; index >= 0; index -= 2) {
    if (list[index] === name) list.splice(index, 2);
  }
  if (value === null) removed.push(name);
  else if (typeof value === "object") {
    for (const item of value) list.push(name, checkValue(name, item));
  } else {
    list.push(name, checkValue(name, value));
  }
}

function lowerCase(name: string): string {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (!tokenPattern.test(name)) {
    const shown = JSON.stringify(name.slice(0, 64));
    throw new HttpUsageError("ERR_HTTP_HEADER", `invalid header name ${shown}: expected a token`);
  }
  const lower = name.toLowerCase();
  if (known.size >= maxKnown) known.clear();
  known.set(name, lower);
  return lower;
}

function checkValue(name: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !valuePattern.test(text)) {
    throw new HttpUsageError(
      "ERR_HTTP_HEADER",
      `the value of header ${name} is not one line of Latin-1 text`,
    );
  }
  return text.trim();
}

/** Whether a header identifies the client: it does not follow to another origin. */
export function isCredentialHeader(name: string): boolean {
  return isSecretName(name) || name === "www-authenticate" || name.startsWith("x-auth");
}
