/**
 * Headers as a flat list, the form in which Node reads and writes them. They behave as the
 * platform's do and cost a tenth.
 *
 * A look-up walks the list, which is faster than a map for the dozen headers that a message has.
 */
export class HeaderList {
  static {
    Object.setPrototypeOf(this.prototype, Headers.prototype);
    // The one of Node's own headers would look for what only these have.
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), {
      value(this: HeaderList, _depth: number, options: object, inspect: Inspect): string {
        return `Headers ${inspect(Object.fromEntries(this), options)}`;
      },
    });
  }

  /** Name, value, name, value; lower-case names. Only `set-cookie` may be repeated. */
  #fields: string[];

  private constructor(fields: string[]) {
    this.#fields = fields;
  }

  /**
   * Makes headers of anything that `new Headers` takes.
   *
   * @throws TypeError when a name or a value is invalid
   */
  static from(source: ResponseInit["headers"]): HeaderList {
    if (source instanceof HeaderList) return new HeaderList(source.#fields.slice());
    const list = new HeaderList([]);
    if (source === undefined) return list;
    if (isRecord(source)) {
      for (const [name, value] of Object.entries(source)) list.append(name, value);
      return list;
    }
    // The platform checks what it is given and joins what is repeated.
    for (const [name, value] of source instanceof Headers ? source : new Headers(source)) {
      list.#fields.push(name, value);
    }
    return list;
  }

  /** Makes headers of a copy of valid fields, each name once and in lower case. */
  static of(fields: readonly string[]): HeaderList {
    return new HeaderList(fields.slice());
  }

  /**
   * Makes headers of the fields of a request, as Node has received and checked them: names in any
   * case, possibly repeated, and over HTTP/2 with pseudo-headers, which are left out.
   */
  static ofReceived(fields: readonly string[]): HeaderList {
    const list = new HeaderList([]);
    // Each name is looked for among those before it, which takes too long when a client sends
    // thousands.
    if (fields.length > maxWalkedFields) {
      return HeaderList.from(pairsOf(fields).filter(([name]) => !name.startsWith(":")));
    }
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const name = fields[index] ?? "";
      // Not `nameOf`: clients must not fill the names that it remembers.
      if (!name.startsWith(":")) list.#add(name.toLowerCase(), fields[index + 1] ?? "");
    }
    return list;
  }

  /** The fields of any headers, not to be changed: name, value, name, value. */
  static fieldsOf(headers: Headers): readonly string[] {
    if (headers instanceof HeaderList) return headers.#fields;
    const fields: string[] = [];
    for (const [name, value] of headers) fields.push(name, value);
    return fields;
  }

  get(name: string): string | null {
    const key = nameOf(name);
    if (key === setCookieName) return this.has(key) ? this.getSetCookie().join(", ") : null;
    const index = this.#indexOf(key);
    return index === -1 ? null : (this.#fields[index + 1] ?? null);
  }

  has(name: string): boolean {
    return this.#indexOf(nameOf(name)) !== -1;
  }

  set(name: string, value: string): void {
    const key = nameOf(name);
    const checked = valueOf(value);
    if (key === setCookieName) this.delete(key);
    const index = this.#indexOf(key);
    if (index === -1) this.#fields.push(key, checked);
    else this.#fields[index + 1] = checked;
  }

  append(name: string, value: string): void {
    this.#add(nameOf(name), valueOf(value));
  }

  delete(name: string): void {
    const key = nameOf(name);
    if (this.#indexOf(key) === -1) return;
    this.#fields = pairsOf(this.#fields)
      .filter(([present]) => present !== key)
      .flat();
  }

  getSetCookie(): string[] {
    return pairsOf(this.#fields)
      .filter(([name]) => name === setCookieName)
      .map(([, value]) => value);
  }

  forEach(
    callback: (value: string, key: string, parent: Headers) => void,
    thisArg?: unknown,
  ): void {
    for (const [name, value] of this.#sorted()) callback.call(thisArg, value, name, this);
  }

  // Not the types of `Headers`: without the library "DOM.Iterable" these have no iterators.

  entries(): ArrayIterator<[string, string]> {
    return this.#sorted().values();
  }

  keys(): ArrayIterator<string> {
    return this.#sorted()
      .map(([name]) => name)
      .values();
  }

  values(): ArrayIterator<string> {
    return this.#sorted()
      .map(([, value]) => value)
      .values();
  }

  [Symbol.iterator](): ArrayIterator<[string, string]> {
    return this.entries();
  }

  #add(key: string, value: string): void {
    const index = key === setCookieName ? -1 : this.#indexOf(key);
    if (index === -1) this.#fields.push(key, value);
    // RFC 9113, 8.2.3: the pieces of a cookie.
    else this.#fields[index + 1] += `${key === "cookie" ? ";" : ","} ${value}`;
  }

  #indexOf(key: string): number {
    const fields = this.#fields;
    for (let index = 0; index < fields.length; index += 2) {
      if (fields[index] === key) return index;
    }
    return -1;
  }

  /** The order of Fetch, 2.2.2 ("sort and combine"). */
  #sorted(): [string, string][] {
    return pairsOf(this.#fields).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

type Inspect = (value: unknown, options: object) => string;

const setCookieName = "set-cookie";
const maxWalkedFields = 200;

/** Pairs of a name and a value. */
export function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    pairs.push([fields[index] ?? "", fields[index + 1] ?? ""]);
  }
  return pairs;
}

function isRecord(source: NonNullable<ResponseInit["headers"]>): source is Record<string, string> {
  return typeof source === "object" && source !== null && !(Symbol.iterator in source);
}

/** A token (RFC 9110, 5.6.2): the name of a header, a method. */
export const tokenPattern: RegExp = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
// The form of nearly all values: printable ASCII without blanks at its ends.
const plainPattern = /^[!-~](?:[ -~]*[!-~])?$/;
const edgePattern = /^[\t\n\r ]+|[\t\n\r ]+$/g;

// Names that were found valid, in lower case. Bounded, because they may come from outside.
const knownNames = new Map<unknown, string>();
const maxKnownNames = 500;
const maxKnownLength = 64;

/** @throws TypeError when it is not a token */
export function nameOf(name: unknown): string {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const text = String(name);
  if (!tokenPattern.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} is not a valid header name (RFC 9110, 5.6.2)`);
  }
  const key = text.toLowerCase();
  if (knownNames.size < maxKnownNames && text.length <= maxKnownLength) knownNames.set(text, key);
  return key;
}

/** Normalises as Fetch does (2.2.2), and rejects what would start another header. */
export function valueOf(value: unknown): string {
  const text = String(value);
  if (plainPattern.test(text)) return text;
  const trimmed = text.replace(edgePattern, "");
  if (/[\0\r\n\u0100-\uffff]/.test(trimmed)) {
    throw new TypeError(
      "a header value contains a line break, a NUL or a character above U+00FF (RFC 9110, 5.5)",
    );
  }
  return trimmed;
}
