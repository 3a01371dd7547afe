// #if webhooks
/**
 * Makes an object that has some members of its own and all others of another object, whatever that one's class is and will
 * have one day.
 */
export function overlay<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, key): unknown {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key);
      const value: unknown = Reflect.get(target, key);
      // Private fields are the target's, so its methods must be called on it.
      if (typeof value !== "function") return value;
      const bound: unknown = value.bind(target);
      return bound;
    },
  });
}
// #endif
