import type { Diagnostic } from "../check/diagnostic.ts";
import type { Sandbox } from "./sandbox.ts";

/** A project that lies in a separate folder, to be run there. */
export interface ProjectView {
  /** The folder; it is removed afterwards. */
  readonly folder: string;
  /** Its files by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Ends what runs. */
  readonly signal: AbortSignal;
}

/** Runs a project in some way and says what is wrong. */
export interface Verifier {
  /** Short name, for progress. */
  readonly name: string;
  /** Whether it can say something about the project. */
  applies(files: ReadonlyMap<string, string>): boolean;
  /** Whether it can find a fault in a file. Default: in every file. */
  readonly reads?: ((path: string) => boolean) | undefined;
  /**
   * Whether it decides about a file, as tests, lint and types do: where it passes, what only the
   * check finds there is a warning. Default: about none.
   */
  readonly judges?: ((path: string) => boolean) | undefined;
  /** Runs the project in the sandbox and returns what is wrong with it; nothing: no error. */
  check(project: ProjectView, sandbox: Sandbox): Promise<readonly Diagnostic[]>;
}
