/** A name that is wanted of another module. */
export interface WantedName {
  /** `default` for the default export. */
  readonly name: string;
  readonly line: number;
}

/** One import, require or re-export. */
export interface ImportFact {
  readonly specifier: string;
  readonly line: number;
  readonly how: "import" | "require" | "dynamic" | "url";
  readonly typeOnly: boolean;
  /** Names that are taken of it. */
  readonly names: WantedName[];
}

/** A call of a plain name. */
export interface CallFact {
  readonly name: string;
  readonly isNew: boolean;
  readonly line: number;
}

/** Facts found so far while a module is read. */
export type ModuleCollector = ReturnType<typeof emptyModule>;

/** Facts about a module, for other files. */
export type ModuleFacts = Readonly<ModuleCollector>;

/** A module of which nothing is known yet. */
export function emptyModule() {
  return {
    imports: [] as ImportFact[],
    /** Exported names. */
    exports: new Set<string>(),
    /** Specifiers of `export * from`. */
    stars: [] as string[],
    /** Every name that is declared somewhere in it, and how often. */
    declared: new Map<string, number>(),
    /** Names that are declared at its top. */
    topLevel: new Set<string>(),
    /** Names that are made global: `window.start = start`. */
    globals: new Set<string>(),
    /** Names that are taken of whole modules, by the local name of the module. */
    namespaces: new Map<string, WantedName[]>(),
    calls: [] as CallFact[],
    /** Whether the module exports something that cannot be listed. */
    opaque: false,
    usesEsm: false,
    usesCjs: undefined as WantedName | undefined,
  };
}
