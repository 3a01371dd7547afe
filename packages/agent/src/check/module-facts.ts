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
