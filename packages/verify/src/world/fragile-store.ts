import type { Store, Transaction } from "@fetchwork/documents";

const changing: ReadonlySet<unknown> = new Set([
  "increment",
  "insert",
  "insertMany",
  "purge",
  "purgeMany",
  "remove",
  "removeMany",
  "replace",
  "restore",
  "update",
  "updateMany",
  "upsert",
]);

/** A store whose process ends after a number of changes: none is stored after these. */
export class FragileStore {
  /** What is used in the place of the store. */
  readonly store: Store;
  #left = Infinity;
  #hasFailed = false;
  readonly #end: () => void;

  /** @param end - Ends the process. Default: it only fails, as if it had ended. */
  constructor(store: Store, end: () => void = () => undefined) {
    this.#end = end;
    const collection = (definition: never): object =>
      this.#watched(store.collection(definition), (change) => this.#count(change));
    const transaction = (
      work: (transaction: Transaction) => unknown,
      options: object,
    ): Promise<unknown> => store.transaction((given) => this.#together(given, work), options);
    this.store = proxied(store, { collection, transaction });
  }

  /** Whether changes fail from some time on. */
  get isEnding(): boolean {
    return this.#left !== Infinity;
  }

  /** Lets a number of changes happen from now on. */
  endAfter(changes: number): void {
    this.#left = changes;
    this.#hasFailed = false;
  }

  /** Lets all changes happen again; returns whether one has failed. */
  restart(): boolean {
    this.#left = Infinity;
    return this.#hasFailed;
  }

  /** What a transaction changes is one change, once it is committed. */
  async #together(
    transaction: Transaction,
    work: (transaction: Transaction) => unknown,
  ): Promise<unknown> {
    let hasChanged = false;
    const collection = (definition: never): object =>
      this.#watched(transaction.collection(definition), (change) => {
        hasChanged = true;
        return change();
      });
    const result = await work(proxied(transaction, { collection }));
    if (hasChanged) this.#count(() => undefined);
    return result;
  }

  #watched(collection: object, run: (change: () => unknown) => unknown): object {
    const changes = [...changing].map((name) => {
      const method: unknown = Reflect.get(collection, String(name));
      if (typeof method !== "function") return [];
      const call = (...given: unknown[]): unknown =>
        run(() => Reflect.apply(method, collection, given) as unknown);
      return [[String(name), call] as const];
    });
    return proxied(collection, Object.fromEntries(changes.flat()));
  }

  #count(change: () => unknown): unknown {
    if (this.#left === 0) {
      this.#hasFailed = true;
      this.#end();
      throw new Error("the process has ended");
    }
    this.#left -= 1;
    return change();
  }
}

/** An object with other methods in the place of some. Private fields need the object itself as `this`. */
function proxied<T extends object>(target: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && Object.hasOwn(methods, name)) return methods[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
