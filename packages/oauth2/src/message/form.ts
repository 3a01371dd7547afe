import { optionError } from "../errors.ts";

/**
 * Parameters by their wire names: scalars as text, lists repeated (RFC 8707), objects as JSON (RFC
 * 9396); `undefined` and `null` are left out, empty text is kept.
 */
export interface Params {
  readonly [name: string]: unknown;
}

/** Scopes: one text, or a list, which is joined by spaces (RFC 6749, 3.3). */
export type Scope = string | readonly string[];

/** Parameters of a grant by their wire names. */
export interface GrantParams extends Params {
  /** Default: what the server thinks right. */
  readonly scope?: Scope | null | undefined;
  /** URLs of the resources that the token is for (RFC 8707). Default: the server's choice. */
  readonly resource?: string | URL | readonly (string | URL)[] | null | undefined;
}

/** Joins a list of scopes by spaces: unlike other lists, it is one parameter (RFC 6749, 3.3). */
export function withScopeAsText<T extends Params>(params: T): T {
  const scope = params["scope"];
  if (!Array.isArray(scope)) return params;
  return { ...params, scope: scope.length === 0 ? undefined : scope.join(" ") };
}

/** Pairs of a query or form. */
export type Pair = readonly [name: string, value: string];

/** Turns parameters into pairs; scalar lists repeat the name, objects are JSON. */
export function toPairs(params: Params): Pair[] {
  const pairs: Pair[] = [];
  for (const name of Object.keys(params)) {
    const value: unknown = params[name];
    if (value === undefined || value === null) continue;
    if (!Array.isArray(value) || value.some((item) => typeof item === "object" && item !== null)) {
      pairs.push([name, toText(name, value)]);
      continue;
    }
    for (const item of value) {
      if (item !== undefined && item !== null) pairs.push([name, toText(name, item)]);
    }
  }
  return pairs;
}

function toText(name: string, value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.toWellFormed();
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    case "object":
      return value instanceof Date || value instanceof URL ? value.toJSON() : JSON.stringify(value);
    default:
      throw optionError(
        `the parameter ${JSON.stringify(name)}`,
        typeof value,
        "text, a number, a list or an object",
      );
  }
}

/** Writes pairs as query or form, with `%20` for a space: read alike everywhere. */
export function encodePairs(pairs: Iterable<Pair>): string {
  return Array.from(pairs, ([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes one value as in a form, with `+` for a space (RFC 6749, appendix B). */
export function formEncode(text: string): string {
  return encode(text).replaceAll("%20", "+");
}

/** Adds pairs to the query of a URL; those of the same name there are replaced. */
export function withQuery(url: URL, pairs: readonly Pair[]): URL {
  const result = new URL(url);
  if (pairs.length === 0) return result;
  const names = new Set(pairs.map(([name]) => name));
  const kept = [...url.searchParams].filter(([name]) => !names.has(name));
  result.search = encodePairs([...kept, ...pairs]);
  return result;
}
