import { emptyHash } from "./empty-hash.ts";
import { InvalidResponseError } from "./errors.ts";
import { snakeCase } from "./snake-case.ts";

/**
 * A hash with snake_case keys and no prototype. Any spelling of a key finds its value: `hash.access_token`,
 * `hash["accessToken"]` and `hash[Symbol.for("access_token")]` are one. `Object.keys`, spread and `JSON.stringify` see
 * the snake_case keys.
 */
export interface SnakyHash {
  readonly [key: string]: unknown;
}

/** What makes the hashes of {@link OAuth2Response.parsed}; {@link snakyHashClass} makes one with hooks. */
export interface SnakyHashClass {
  /** Makes a hash of an object, converting keys in all depths; of keys that become one, the last counts. */
  from(value: object): SnakyHash;
  /** Writes a hash as JSON. */
  dump(hash: object): string;
  /** Reads what {@link SnakyHashClass.dump} wrote. */
  load(text: string): SnakyHash;
}

/** Changes one value that is not a hash or a list, not `null` and not empty text. */
export type ValueHook = (value: unknown) => unknown;
/** Changes one hash, the outermost or a nested one. */
export type HashHook = (hash: Readonly<Record<string, unknown>>) => object;

/** Hooks of {@link snakyHashClass}; several run in the order given. */
export interface SnakyHooks {
  /** Runs on each value before it is written. Default: none. */
  readonly dumpValue?: ValueHook | readonly ValueHook[] | undefined;
  /** Runs on each hash before it is written, before the hooks of its values. Default: none. */
  readonly dumpHash?: HashHook | readonly HashHook[] | undefined;
  /** Runs on each value that was read. Default: none. */
  readonly loadValue?: ValueHook | readonly ValueHook[] | undefined;
  /** Runs on each hash that was read, before the hooks of its values. Default: none. */
  readonly loadHash?: HashHook | readonly HashHook[] | undefined;
}

/** Deepest nesting of hashes and lists. */
const maxDepth = 100;

/**
 * Makes a hash class with hooks for writing and reading.
 *
 * @example
 * ```ts
 * const dated = snakyHashClass({
 *   loadValue: (value) => (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value),
 * });
 * const response = await token.get("/me", { snakyHashClass: dated });
 * ```
 */
export function snakyHashClass(hooks: SnakyHooks = {}): SnakyHashClass {
  const dumpHooks = { value: list(hooks.dumpValue), hash: list(hooks.dumpHash) };
  const loadHooks = { value: list(hooks.loadValue), hash: list(hooks.loadHash) };
  return {
    from: toSnakyHash,
    dump: (hash) => JSON.stringify(apply(hash, dumpHooks, 0)),
    load(text) {
      const value: unknown = JSON.parse(text);
      if (!isHash(value)) throw new InvalidResponseError("the text is no hash in JSON");
      const loaded = apply(toSnakyHash(value), loadHooks, 0);
      if (!isHash(loaded)) throw new InvalidResponseError("a hook made something else of the hash");
      return toSnakyHash(loaded);
    },
  };
}

/** A hash class without hooks. */
export const defaultSnakyHashClass: SnakyHashClass = snakyHashClass();

/** Whether a value is a hash: an object that is no list, and not of a class of its own, such as a date. */
export function isHash(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Converts the keys of an object in all depths; the result itself knows one spelling only. */
export function snakyFields(value: object, depth = 0): Record<string, unknown> {
  const fields = emptyHash();
  for (const key of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, key);
    fields[snakeCase(key)] =
      typeof inner === "object" && inner !== null ? convert(inner, depth + 1) : inner;
  }
  return fields;
}

/** Makes a hash of what {@link snakyFields} gave. */
export function asSnakyHash(fields: Record<string, unknown>): SnakyHash {
  return new Proxy(fields, anySpelling);
}

function toSnakyHash(value: object): SnakyHash {
  return asSnakyHash(snakyFields(value));
}

function convert(value: unknown, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((inner) => convert(inner, depth + 1));
  return isHash(value) ? asSnakyHash(snakyFields(value, depth)) : value;
}

const anySpelling: ProxyHandler<Record<string, unknown>> = {
  get(hash, key) {
    const value: unknown = Reflect.get(hash, spelled(hash, key));
    return value;
  },
  has(hash, key) {
    return spelled(hash, key) in hash;
  },
};

function spelled(hash: object, key: string | symbol): string | symbol {
  const name = typeof key === "string" ? key : Symbol.keyFor(key);
  if (name === undefined) return key;
  return name in hash ? name : snakeCase(name);
}

interface Hooks {
  readonly value: readonly ValueHook[];
  readonly hash: readonly HashHook[];
}

function apply(value: unknown, hooks: Hooks, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((inner) => apply(inner, hooks, depth + 1));
  if (!isHash(value))
    return isBlank(value) ? value : hooks.value.reduce((v, hook) => hook(v), value);
  const changed = hooks.hash.reduce<object>((hash, hook) => hook({ ...hash }), value);
  const result = emptyHash();
  for (const [key, inner] of Object.entries(changed)) result[key] = apply(inner, hooks, depth + 1);
  return result;
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) {
    throw new InvalidResponseError(`hashes and lists are nested deeper than ${maxDepth}`);
  }
}

function list<T>(hooks: T | readonly T[] | undefined): readonly T[] {
  if (hooks === undefined) return [];
  return isList(hooks) ? [...hooks] : [hooks];
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
