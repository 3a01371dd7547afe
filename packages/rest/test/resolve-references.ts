const resolved = new WeakMap<object, unknown>();

/**
 * Puts what an OpenAPI document describes once into the places that refer to it, except where it
 * refers to itself.
 */
export function resolveReferences<T extends { readonly components: unknown }>(document: T): T {
  const known = resolved.get(document) ?? resolveAll(document);
  resolved.set(document, known);
  return known as T;
}

function resolveAll(document: { readonly components: unknown }): unknown {
  const parts: unknown = document.components;
  const resolve = (value: unknown, way: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((one) => resolve(one, way));
    if (typeof value !== "object" || value === null) return value;
    const reference: unknown = Reflect.get(value, "$ref");
    if (typeof reference === "string" && !way.includes(reference)) {
      return resolve(partOf(parts, reference), [...way, reference]);
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, resolve(one, way)]),
    );
  };
  return resolve(document, []);
}

function partOf(components: unknown, reference: string): unknown {
  const [, , kind = "", name = ""] = reference.split("/");
  const parts: unknown = Reflect.get(Object(components), kind);
  const part: unknown = Reflect.get(Object(parts), name);
  if (part === undefined) throw new Error(`${reference} leads nowhere`);
  return part;
}
