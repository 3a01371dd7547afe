import { InvalidResponseError } from "./errors.ts";
import { snakeCase } from "./snake-case.ts";

/**
 * A plain object whose keys are in snake case, in all depths: `hash.access_token`. {@link
 * findField} finds a value by any other spelling of its key.
 */
export interface SnakyHash {
  readonly [key: string]: unknown;
}

/** Makes the hashes of responses. */
export interface SnakyHashMaker {
  /** Makes a hash of an object, with keys converted in all depths; the last wins. */
  from(value: object): SnakyHash;
}

/** Deepest nesting of hashes and lists. */
const maxDepth = 100;

/** Whether a value is a hash: an object, but no list and no instance of a class such as Date. */
export function isHash(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Finds a value of a hash with snake_case keys by any spelling of its key: `access_token`,
 * `accessToken`, `AccessToken` or `Symbol.for("access_token")`. Inherited members are not found.
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

/**
 * Converts the keys of an object in all depths; of keys that become one, the last counts.
 *
 * @throws InvalidResponseError when it is nested too deeply
 */
export function toSnakyHash(value: object, depth = 0): Record<string, unknown> {
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

/**
 * Checks the nesting of hashes and lists.
 *
 * @throws InvalidResponseError when it is too deep
 */
export function checkDepth(depth: number): void {
  if (depth > maxDepth) {
    throw new InvalidResponseError(`objects and lists are nested deeper than ${maxDepth}`);
  }
}
