/** The code of an error of Node, as in `ENOENT`; undefined where there is none. */
export function codeOf(error: unknown): string | undefined {
  // Errors of another context are no instances of ours.
  const isError = typeof error === "object" && error !== null;
  const code = isError && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
