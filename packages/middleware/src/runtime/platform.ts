/**
 * A module that the runtime itself has, on Node, Bun and Deno; `undefined` elsewhere. Keeps
 * `node:*` out of imports. Each member is optional, so that each user checks for it.
 */
export function builtinModule<T>(name: string): Partial<T> | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  const module = process?.getBuiltinModule?.(name);
  return typeof module === "object" && module !== null ? module : undefined;
}

/** Whether this is a worker of Cloudflare, where unawaited work ends with the request. */
export function onWorkers(): boolean {
  return globalThis.navigator?.userAgent === "Cloudflare-Workers";
}
