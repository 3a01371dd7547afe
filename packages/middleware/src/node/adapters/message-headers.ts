/** Where the headers of a message of Node are stored. Names are in lower case. */
export interface HeaderStore {
  read(name: string): unknown;
  write(name: string, value: string | string[]): void;
  remove(name: string): void;
  names(): readonly string[];
}

/**
 * The headers of a message of Node as `Headers`. Nothing is copied: what a middleware reads and sets is read and set in the
 * message itself, so a middleware that only changes headers costs no more than `setHeader()`.
 */
class MessageHeaders {
  static {
    Object.setPrototypeOf(this.prototype, Headers.prototype);
  }

  readonly #store: HeaderStore;

  constructor(store: HeaderStore) {
    this.#store = store;
  }

  get(name: string): string | null {
    const key = name.toLowerCase();
    const value = this.#store.read(key);
    return value === undefined ? null : textOf(value, key);
  }

  has(name: string): boolean {
    return this.#store.read(name.toLowerCase()) !== undefined;
  }

  set(name: string, value: string): void {
    this.#store.write(name.toLowerCase(), trim(value));
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    const present = this.#store.read(key);
    const added = trim(value);
    if (present === undefined) this.#store.write(key, added);
    else if (key === "set-cookie") this.#store.write(key, [...listOf(present), added]);
    else this.#store.write(key, `${textOf(present, key)}, ${added}`);
  }

  delete(name: string): void {
    const key = name.toLowerCase();
    if (this.#store.read(key) !== undefined) this.#store.remove(key);
  }

  getSetCookie(): string[] {
    const present = this.#store.read("set-cookie");
    return present === undefined ? [] : listOf(present);
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

  /** The order of Fetch, 2.2.2 ("sort and combine"): each cookie is an entry, repeated values of others are joined. */
  #sorted(): [string, string][] {
    const pairs: [string, string][] = [];
    for (const name of this.#store.names().toSorted()) {
      // Pseudo-headers of HTTP/2 have no place in `Headers`.
      if (name.startsWith(":")) continue;
      const value = this.#store.read(name);
      if (value === undefined) continue;
      if (name === "set-cookie") pairs.push(...listOf(value).map(withCookieName));
      else pairs.push([name, textOf(value, name)]);
    }
    return pairs;
  }
}

/** Makes `Headers` that read and write a message of Node. */
export function messageHeaders(store: HeaderStore): Headers {
  return new MessageHeaders(store);
}

function textOf(value: unknown, name: string): string {
  if (!Array.isArray(value)) return String(value);
  return value.map(String).join(name === "cookie" ? "; " : ", ");
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function withCookieName(value: string): [string, string] {
  return ["set-cookie", value];
}

function trim(value: unknown): string {
  return String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
}
