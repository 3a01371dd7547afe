/** An object of which only own properties are read. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value has properties: it is not `null` and not a primitive. */
export function isObject(value: unknown): value is PlainObject {
  return typeof value === "object" && value !== null;
}

/** Whether an object was made by `{}`, `JSON.parse` or `Object.create(null)`, in any realm. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns an own property; members of `Object.prototype` are not variables. */
export function getOwn(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Copies some own properties; unlike an assignment, `__proto__` as any other name. */
export function pick(object: PlainObject, names: readonly string[]): PlainObject {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
