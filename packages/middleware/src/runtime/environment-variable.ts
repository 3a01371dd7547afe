/** Value of an environment variable, where the runtime has an environment. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, unknown>> };
  };
  const value = process?.env?.[name];
  return typeof value === "string" ? value : undefined;
}
