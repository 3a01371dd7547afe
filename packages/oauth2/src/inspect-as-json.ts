/** Something with a form for logs, without secrets. */
interface Shown {
  toJSON(): unknown;
}

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

/** Makes `inspect` of Node, Deno and Bun, and so `console.log`, show what `toJSON` returns. */
export function inspectAsJson(prototype: Shown): void {
  Object.defineProperty(prototype, inspection, {
    value(this: Shown) {
      return this.toJSON();
    },
    configurable: true,
  });
}
