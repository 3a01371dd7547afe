import { InvalidResponseError } from "../errors.ts";
import { snakeCase } from "./snake-case.ts";
import { checkNames, optionsOf } from "../option-names.ts";

const hookNames = optionsOf<SnakyHooks>("snakyHashClass", {
  dumpValue: true,
  dumpHash: true,
  loadValue: true,
  loadHash: true,
});

/**
 * A plain object whose keys are in snake case, in all depths: `hash.access_token`. {@link findField} finds a value by
 * any other spelling of its key.
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
  checkNames(hooks, hookNames);
  const dumpHooks = { value: list(hooks.dumpValue), hash: list(hooks.dumpHash) };
  const loadHooks = { value: list(hooks.loadValue), hash: list(hooks.loadHash) };
  return {
    from: (value) => toSnakyHash(value),
    dump: (hash) => JSON.stringify(apply(hash, dumpHooks, 0)),
    load(text) {
      const value: unknown = JSON.parse(text);
      if (!isHash(value)) throw new InvalidResponseError("the text is not a JSON object");
      const loaded = apply(toSnakyHash(value), loadHooks, 0);
      if (!isHash(loaded)) throw new InvalidResponseError("a hook must return an object");
      return toSnakyHash(loaded);
    },
  };
}

/** A hash class without hooks. */
export const defaultSnakyHashClass: SnakyHashClass = snakyHashClass();

/** Whether a value is a hash: an object that is neither a list nor an instance of a class, such as a date. */
export function isHash(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Finds a value of a hash with snake_case keys by any spelling of its key: `access_token`, `accessToken`, `AccessToken`
 * or `Symbol.for("access_token")`. Inherited members are not found.
 *
 * @example
 * ```ts
 * const response = await token.get("/me");
 * const id = findField(response.hash ?? {}, "userId");
 * ```
 */
export function findField(hash: SnakyHash, key: string | symbol): unknown {
  const name = typeof key === "string" ? key : Symbol.keyFor(key);
  if (name === undefined) return undefined;
  const spelled = Object.hasOwn(hash, name) ? name : snakeCase(name);
  return Object.hasOwn(hash, spelled) ? hash[spelled] : undefined;
}

/** Converts the keys of an object in all depths. */
function toSnakyHash(value: object, depth = 0): Record<string, unknown> {
  const hash: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, key);
    // Snake case has no two underscores in a row, so that no key is `__proto__`.
    hash[snakeCase(key)] =
      typeof inner === "object" && inner !== null ? convert(inner, depth + 1) : inner;
  }
  return hash;
}

function convert(value: unknown, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((inner) => convert(inner, depth + 1));
  return isHash(value) ? toSnakyHash(value, depth) : value;
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
  const entries = Object.entries(changed);
  return Object.fromEntries(entries.map(([key, inner]) => [key, apply(inner, hooks, depth + 1)]));
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) {
    throw new InvalidResponseError(`objects and lists are nested deeper than ${maxDepth}`);
  }
}

function list<T>(hooks: T | readonly T[] | undefined): readonly T[] {
  if (hooks === undefined) return [];
  return isList(hooks) ? [...hooks] : [hooks];
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
