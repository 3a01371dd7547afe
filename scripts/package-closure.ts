/** The fields of a `package.json` that name the packages which it cannot do without. */
export interface NeedingManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * The names of the packages that a package needs: its dependencies, and its peers that are not
 * optional.
 */
export function neededBy(manifest: NeedingManifest): readonly string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter(
    (name) => peerDependenciesMeta[name]?.optional !== true,
  );
  return [...Object.keys(dependencies), ...peers];
}

/** These packages and all that they need, of the packages that there are. */
export function closureOf<T extends { readonly needs: readonly string[] }>(
  names: Iterable<string>,
  packages: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const next = packages.get(name);
    if (next === undefined || found.has(name)) continue;
    found.set(name, next);
    open.push(...next.needs);
  }
  return found;
}
