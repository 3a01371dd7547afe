const inspection = Symbol.for("nodejs.util.inspect.custom");

/**
 * Makes `inspect`, and so `console.log`, show no value of one member. JSON and copies keep it: the
 * object is plain, and an application stores it.
 */
export function hideFromInspect<T extends object>(object: T, member: keyof T): T {
  return Object.defineProperty(object, inspection, {
    value: () => ({ ...object, [member]: "[FILTERED]" }),
  });
}

/** Makes `inspect`, and so `console.log`, show the form for logs that `toJSON` returns. */
export function inspectAsJson(prototype: { toJSON(): unknown }): void {
  Object.defineProperty(prototype, inspection, {
    value(this: typeof prototype) {
      return this.toJSON();
    },
    configurable: true,
  });
}
