/** Paths whose files are not the same in two states of a program, those that one of them lacks included. */
export function changedPaths(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths].filter((path) => after.get(path) !== before.get(path));
}
