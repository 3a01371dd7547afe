/** Something with a form for logs, without secrets. */
interface Shown {
  toJSON(): unknown;
}

/** Makes `inspect` of Node, Deno and Bun, and so `console.log`, show what `toJSON` returns. */
export function inspectAsJson(prototype: Shown): void {
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: Shown) {
      return this.toJSON();
    },
    configurable: true,
  });
}
