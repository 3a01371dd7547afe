import { HttpUsageError } from "../errors.ts";

/** Changes to headers: name in lower case to value; null removes. */
export type HeaderChanges = ReadonlyMap<string, string | null>;

// RFC 9110, 5.6.2 and 5.5: a token; and no CR, LF or NUL, which would start another header or the body.
const tokenPattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const valuePattern = /^[^\0\r\n\u0100-\uffff]*$/;

/**
 * Checks header changes and returns them with names in lower case.
 *
 * @throws HttpUsageError `ERR_HTTP_HEADER`
 */
export function checkHeaderChanges(
  headers: Readonly<Record<string, string | null>>,
): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const [name, value] of Object.entries(headers)) {
    if (!tokenPattern.test(name)) {
      throw new HttpUsageError(
        "ERR_HTTP_HEADER",
        `${JSON.stringify(name)} is not a valid header name`,
      );
    }
    if (value !== null && !valuePattern.test(value)) {
      throw new HttpUsageError(
        "ERR_HTTP_HEADER",
        `the value of header ${name} contains a line break, a NUL or a character above U+00FF`,
      );
    }
    changes.set(name.toLowerCase(), value === null ? null : value.replace(/^[\t ]+|[\t ]+$/g, ""));
  }
  return changes;
}

/**
 * The headers of a request with some changes. Single look-ups go to the source; a copy is made only to iterate or to
 * change.
 */
class OverlayHeaders {
  static {
    Object.setPrototypeOf(this.prototype, Headers.prototype);
  }

  readonly #source: Headers;
  readonly #changes: HeaderChanges;
  #copy: Headers | undefined;

  constructor(source: Headers, changes: HeaderChanges) {
    this.#source = source;
    this.#changes = changes;
    this.#copy = undefined;
  }

  get(name: string): string | null {
    if (this.#copy !== undefined) return this.#copy.get(name);
    const changed = this.#changes.get(name.toLowerCase());
    return changed === undefined ? this.#source.get(name) : changed;
  }

  has(name: string): boolean {
    if (this.#copy !== undefined) return this.#copy.has(name);
    const changed = this.#changes.get(name.toLowerCase());
    return changed === undefined ? this.#source.has(name) : changed !== null;
  }

  getSetCookie(): string[] {
    return this.#toCopy().getSetCookie();
  }

  append(name: string, value: string): void {
    this.#toCopy().append(name, value);
  }

  set(name: string, value: string): void {
    this.#toCopy().set(name, value);
  }

  delete(name: string): void {
    this.#toCopy().delete(name);
  }

  entries(): HeadersIterator<[string, string]> {
    return this.#toCopy().entries();
  }

  keys(): HeadersIterator<string> {
    return this.#toCopy().keys();
  }

  values(): HeadersIterator<string> {
    return this.#toCopy().values();
  }

  forEach(
    callback: (value: string, key: string, parent: Headers) => void,
    thisArg?: unknown,
  ): void {
    for (const [name, value] of this.#toCopy()) callback.call(thisArg, value, name, this);
  }

  [Symbol.iterator](): HeadersIterator<[string, string]> {
    return this.entries();
  }

  #toCopy(): Headers {
    if (this.#copy !== undefined) return this.#copy;
    const copy = new Headers();
    for (const [name, value] of this.#source) {
      if (!this.#changes.has(name)) copy.append(name, value);
    }
    for (const [name, value] of this.#changes) {
      if (value !== null) copy.set(name, value);
    }
    this.#copy = copy;
    return copy;
  }
}

/** Lays changes over headers without copying them. */
export function overlayHeaders(source: Headers, changes: HeaderChanges): Headers {
  return new OverlayHeaders(source, changes);
}
