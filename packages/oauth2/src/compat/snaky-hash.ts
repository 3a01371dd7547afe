import { InvalidResponseError } from "../errors.ts";
import { checkOptions } from "../check-options.ts";
import {
  checkDepth,
  isHash,
  type SnakyHash,
  type SnakyHashMaker,
  toSnakyHash,
} from "../snaky-hash.ts";

/** Makes the hashes of {@link OAuth2Response.parsed}, see {@link snakyHashClass}. */
export interface SnakyHashClass extends SnakyHashMaker {
  /** Writes a hash as JSON. */
  dump(hash: object): string;
  /** Reads what {@link SnakyHashClass.dump} wrote. */
  load(text: string): SnakyHash;
}

/** Changes one value that is not a hash or a list, not `null` and not empty text. */
export type ValueHook = (value: unknown) => unknown;
/** Changes one hash, the outermost or a nested one. */
export type HashHook = (hash: Readonly<Record<string, unknown>>) => object;

/** Hooks of {@link snakyHashClass}. */
export interface SnakyHooks {
  /** Runs on each value before it is written. Default: none. */
  readonly dumpValue?: ValueHook | undefined;
  /** Runs on each hash before it is written, before the hooks of its values. Default: none. */
  readonly dumpHash?: HashHook | undefined;
  /** Runs on each value that was read. Default: none. */
  readonly loadValue?: ValueHook | undefined;
  /** Runs on each hash that was read, before the hooks of its values. Default: none. */
  readonly loadHash?: HashHook | undefined;
}

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
  checkOptions("snakyHashClass", hooks, ["dumpValue", "dumpHash", "loadValue", "loadHash"]);
  const dumpHooks = { value: hooks.dumpValue, hash: hooks.dumpHash };
  const loadHooks = { value: hooks.loadValue, hash: hooks.loadHash };
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

interface Hooks {
  readonly value: ValueHook | undefined;
  readonly hash: HashHook | undefined;
}

function apply(value: unknown, hooks: Hooks, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((inner) => apply(inner, hooks, depth + 1));
  if (!isHash(value))
    return hooks.value === undefined || isBlank(value) ? value : hooks.value(value);
  const changed = hooks.hash === undefined ? value : hooks.hash({ ...value });
  const entries = Object.entries(changed);
  return Object.fromEntries(entries.map(([key, inner]) => [key, apply(inner, hooks, depth + 1)]));
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}
