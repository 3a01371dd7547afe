/** Paths whose files differ between two states of a program, including missing ones. */
export function changedPaths(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths].filter((path) => after.get(path) !== before.get(path));
}
