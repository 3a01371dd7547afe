/** The code that Node gives an error, as in `ENOENT`; undefined where there is none. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
