import type { Store, Transaction } from "@fetchwork/documents";

type Method = (...given: never[]) => unknown;
type Work = (transaction: Transaction) => unknown;

const changing = /^(?:increment|insert|purge|remove|replace|restore|update|upsert)/;

/** A store whose process ends after a number of changes: none is stored after these. */
export class FragileStore {
  /** What is used in the place of the store. */
  readonly store: Store;
  #left = Infinity;
  readonly #end: () => void;

  /** @param end - Ends the process. Default: changes only fail, as if it had ended. */
  constructor(store: Store, end: () => void = () => undefined) {
    this.#end = end;
    const inTransaction = (work: Work, options: object): Promise<unknown> =>
      store.transaction((transaction) => this.#together(transaction, work), options);
    this.store = proxied(
      watched(store, () => this.#count()),
      (name, method) => (name === "transaction" ? inTransaction : method),
    );
  }

  /** Whether changes fail from some time on. */
  get isEnding(): boolean {
    return this.#left !== Infinity;
  }

  /** Does something whose process ends after a number of changes; resolves to nothing when it has ended. */
  async endAfter<Result>(
    changes: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    this.#left = changes;
    const result = await work();
    const hasEnded = this.#left < 0;
    this.#left = Infinity;
    return hasEnded ? undefined : result;
  }

  /** What a transaction changes is one change, once it is committed. */
  async #together(transaction: Transaction, work: Work): Promise<unknown> {
    let hasChanged = false;
    const result = await work(watched(transaction, () => (hasChanged = true)));
    if (hasChanged) this.#count();
    return result;
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    this.#end();
    throw new Error("the process has ended");
  }
}

/** A store or transaction that calls a function before each change of a collection. */
function watched<T extends Store | Transaction>(target: T, onChange: () => void): T {
  const changed = (name: string, method: Method): Method =>
    changing.test(name) ? (...given) => (onChange(), method(...given)) : method;
  return proxied(target, (name, method) =>
    name === "collection"
      ? (...given) => proxied(Object(method(...given)) as object, changed)
      : method,
  );
}

/** An object with other methods in the place of some. Private fields need the object itself as `this`. */
function proxied<T extends object>(
  target: T,
  methodFor: (name: string, method: Method) => Method,
): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return methodFor(name, value.bind(target) as Method);
    },
  });
}
