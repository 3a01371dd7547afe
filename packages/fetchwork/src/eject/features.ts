/** The features of a resource that its handlers implement; routes and validation do the rest for any handlers. */
export interface Features {
  /** Field of the creator. */
  readonly owner: string | undefined;
  /** Whether documents show their owner. */
  readonly showsOwner: boolean;
  /** Whether the rule `restore` depends on the document. */
  readonly asksToRestore: boolean;
  /** Names of the hooks that there are. */
  readonly hooks: ReadonlySet<string>;
  /** Whether fields refer to documents of other resources. */
  readonly refers: boolean;
  readonly populates: boolean;
  readonly softDelete: boolean;
  /** Whether the schema accepts `null` for a field. */
  readonly knowsNull: boolean;
  readonly readOnly: boolean;
  /** Whether the schema lets pass what clients do not set. */
  readonly reserves: boolean;
  readonly shape: "array" | "rows";
}

/** Reads a resource of any version of `@fetchwork/rest` in which it has these parts; `undefined` for anything else. */
export function featuresOf(resource: unknown): Features | undefined {
  const { access, collection, hooks, owner, relations, shape, softDelete, ...more } =
    membersOf(resource);
  const { references, paths } = membersOf(relations);
  const sets = ["nullable", "readOnly", "reserved"].map((name) => more[name]);
  const isWhole =
    Array.isArray(references) &&
    Array.isArray(paths) &&
    sets.every((one) => one instanceof Set) &&
    typeof membersOf(collection)["name"] === "string";
  if (!isWhole) return undefined;
  const [knowsNull = false, readOnly = false, reserves = false] = sets.map((one) => one.size > 0);
  const toRestore = membersOf(access)["restore"];
  return {
    // Documents that own themselves have no other field for it.
    owner: typeof owner === "string" && owner !== "id" ? owner : undefined,
    showsOwner: typeof more["shownOwner"] === "string",
    asksToRestore: toRestore === "owner" || typeof toRestore === "function",
    hooks: new Set(
      Object.entries(membersOf(hooks)).flatMap(([name, hook]) => (hook === undefined ? [] : name)),
    ),
    refers: references.length > 0,
    populates: paths.length > 0,
    softDelete: softDelete === true,
    knowsNull,
    readOnly,
    reserves,
    shape: shape === "rows" ? "rows" : "array",
  };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
