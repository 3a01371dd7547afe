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

/** What a function takes. */
export interface Arity {
  /** Fewest arguments that it can be called with; JavaScript's own rules are used, TypeScript's where there are types. */
  readonly least: number;
  /** Most that it looks at; `Infinity` with a rest parameter or `arguments`. */
  readonly most: number;
}

/** A class, as far as its members are known. */
export interface ClassFact {
  readonly members: ReadonlySet<string>;
  /** Its methods that are functions in the source. */
  readonly methods: ReadonlyMap<string, Arity>;
  /** Methods of its own that it calls by `this`; none where `this` may be another object. */
  readonly selfCalls: readonly SelfCall[];
}

/** `this.name()` in a class. */
export interface SelfCall {
  readonly name: string;
  readonly line: number;
}

/** What is declared under a name. */
export interface Declared {
  readonly arity?: Arity | undefined;
  readonly classFact?: ClassFact | undefined;
}

/** A call of a plain name, or of a method of one. */
export interface CallFact {
  readonly name: string;
  /** For `name.method()`. */
  readonly method: string | undefined;
  readonly isNew: boolean;
  /** Undefined: there is a spread among them. */
  readonly count: number | undefined;
  readonly line: number;
}

/** What other files have to know of a module. */
export interface ModuleFacts {
  readonly imports: readonly ImportFact[];
  /** Exported names, and the local ones behind them. */
  readonly exports: ReadonlyMap<string, string | undefined>;
  /** Specifiers of `export * from`. */
  readonly stars: readonly string[];
  /** It exports something that cannot be listed. */
  readonly opaque: boolean;
  readonly usesEsm: boolean;
  readonly usesCjs: WantedName | undefined;
  /** Every name that is declared somewhere in it, and how often. */
  readonly declared: ReadonlyMap<string, number>;
  /** What is declared at its top. */
  readonly topLevel: ReadonlyMap<string, Declared>;
  /** Names that are made global: `window.start = start`. */
  readonly globals: ReadonlySet<string>;
  /** Local name of an import -> where it is from. */
  readonly importedAs: ReadonlyMap<string, { readonly specifier: string; readonly name: string }>;
  /** `const x = new C()` -> `C`. */
  readonly instances: ReadonlyMap<string, string>;
  readonly calls: readonly CallFact[];
}
