import type { Store } from "@fetchwork/documents";

/** A store that counts reads. */
export function counting(store: Store): { readonly store: Store; readonly calls: string[] } {
  const calls: string[] = [];
  const collection: Store["collection"] = (definition) => {
    const inner = store.collection(definition);
    return new Proxy(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          if (["get", "getMany", "find", "page"].includes(String(name))) {
            calls.push(`${definition.name}.${String(name)}`);
          }
          return Reflect.apply(value, target, given);
        };
      },
    });
  };
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name === "collection") return collection;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { store: proxy, calls };
}
