/** An object whose own properties are all that is asked of it. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Tells everything with properties from `null` and primitives. */
export function isObject(value: unknown): value is PlainObject {
  return typeof value === "object" && value !== null;
}

/** Tells objects made by `{}`, `JSON.parse` or `Object.create(null)`, of any realm, from everything else. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns an own property; members of `Object.prototype` are not variables. */
export function getOwn(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Copies some own properties. Unlike an assignment, it takes `__proto__` for a name like any other. */
export function pick(object: PlainObject, names: readonly string[]): PlainObject {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
