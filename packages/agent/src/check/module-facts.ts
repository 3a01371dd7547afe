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
  readonly names: readonly WantedName[];
}

/** A call of a plain name. */
export interface CallFact {
  readonly name: string;
  readonly isNew: boolean;
  readonly line: number;
}

/** Facts about a module, for other files. */
export interface ModuleFacts {
  readonly imports: readonly ImportFact[];
  /** Exported names. */
  readonly exports: ReadonlySet<string>;
  /** Specifiers of `export * from`. */
  readonly stars: readonly string[];
  /** Whether the module exports something that cannot be listed. */
  readonly opaque: boolean;
  readonly usesEsm: boolean;
  readonly usesCjs: WantedName | undefined;
  /** Every name that is declared somewhere in it, and how often. */
  readonly declared: ReadonlyMap<string, number>;
  /** Names that are declared at its top. */
  readonly topLevel: ReadonlySet<string>;
  /** Names that are made global: `window.start = start`. */
  readonly globals: ReadonlySet<string>;
  readonly calls: readonly CallFact[];
}
