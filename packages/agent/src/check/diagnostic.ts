/** Kind of fault that a {@link Diagnostic} is about. */
export type DiagnosticCode =
  /** The file cannot be parsed. */
  | "syntax"
  /** An import or reference names a file of the project that is not there. */
  | "missing-file"
  /** A name is imported that the other file does not export. */
  | "missing-export"
  /** A package is imported that no package.json names. */
  | "missing-dependency"
  /** A function is called that is neither declared nor imported. */
  | "undeclared-name"
  /** A script looks for an element that no page has. */
  | "missing-element"
  /** Two elements of a page have one id. */
  | "duplicate-id"
  /** A module is loaded as a script, or CommonJS is used in a module. */
  | "module-kind"
  /** A verifier ran the project and it failed. */
  | "verification";

/** A fault of a project. */
export interface Diagnostic {
  /** The file to look at. */
  readonly path: string;
  /** From 1. Undefined: it is about the whole file. */
  readonly line?: number | undefined;
  readonly code: DiagnosticCode;
  /** One line. */
  readonly message: string;
  /** `error`: the project does not work; `warning`: it is unlikely to be meant. */
  readonly severity: "error" | "warning";
  /** Another file where the fault may be instead. */
  readonly related?: string | undefined;
  /** Whether it is only a warning because a tool of the program passed without reporting it. */
  readonly unconfirmed?: boolean | undefined;
}

/** One line for a person or a model: `src/a.js:3 message`. */
export function describeDiagnostic({ path, line, message, unconfirmed }: Diagnostic): string {
  const note = unconfirmed === true ? " (no tool of the program reports it)" : "";
  return `${path}${line === undefined ? "" : `:${line}`} ${message}${note}`;
}

/** A fault as a text that is the same as long as the fault is. */
export function fingerprintOf({ path, code, message }: Diagnostic): string {
  return `${path} ${code} ${message}`;
}

/** The errors of a project by their {@link fingerprintOf}. */
export function fingerprints(diagnostics: readonly Diagnostic[]): ReadonlySet<string> {
  return new Set(diagnostics.filter(({ severity }) => severity === "error").map(fingerprintOf));
}
