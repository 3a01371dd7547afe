/** Warns the programmer by `console.warn`, unless `NODE_ENV` is `production`. Returns whether it did. */
export function warn(message: string): boolean {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  };
  if (process?.env?.["NODE_ENV"] === "production") return false;
  console.warn(message);
  return true;
}
