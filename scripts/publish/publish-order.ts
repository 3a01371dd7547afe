/** What a package that is published says about itself. */
interface Published {
  readonly name: string;
  /** Names of the packages that it needs. */
  readonly needs: readonly string[];
}

/**
 * Orders packages so that each comes after those that it needs: what a registry has can always be
 * installed.
 */
export function publishOrder<T extends Published>(packages: readonly T[]): readonly T[] {
  const names = new Set(packages.map(({ name }) => name));
  const ordered: T[] = [];
  const done = new Set<string>();
  while (ordered.length < packages.length) {
    const next = packages.filter(
      ({ name, needs }) =>
        !done.has(name) && needs.every((need) => done.has(need) || !names.has(need)),
    );
    if (next.length === 0) {
      const rest = [...names].filter((name) => !done.has(name));
      throw new Error(`packages need each other in a circle: ${rest.join(", ")}`);
    }
    for (const one of next) {
      ordered.push(one);
      done.add(one.name);
    }
  }
  return ordered;
}
