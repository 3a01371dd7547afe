import type { Usage } from "../calls/budget.ts";
import type { Diagnostic } from "../check/diagnostic.ts";
import type { AgentErrorCode } from "../errors.ts";
import type { FileSpec, ProjectPlan } from "../project/project-plan.ts";
import type { Coverage } from "../verify/coverage.ts";
import type { SandboxLevel } from "../verify/sandbox.ts";
import type { WriteAction, WrittenFile } from "../workspace/project-writer.ts";

/** Step that a run does at a moment. */
export type StepName = "plan" | "files" | "file" | "verify" | "repair" | "edit" | "write";

/** Event in a run. Events come in the order in which they happen. */
export type AgentEvent =
  | { readonly type: "started"; readonly runId: string; readonly resumed: boolean }
  | {
      readonly type: "step";
      readonly step: StepName;
      readonly path?: string | undefined;
      readonly round?: number | undefined;
    }
  /** A piece of an answer. Not kept: a later listener does not get it. */
  | {
      readonly type: "token";
      readonly step: StepName;
      readonly path?: string | undefined;
      readonly text: string;
    }
  /** A tool ran or refused a call of the model. `about` is a path, a pattern or a command. */
  | {
      readonly type: "tool";
      readonly name: string;
      readonly about: string;
      readonly ok: boolean;
    }
  /** An attempt failed and is repeated after `delay` milliseconds; the answer begins again. */
  | {
      readonly type: "retry";
      readonly step: StepName;
      readonly path?: string | undefined;
      readonly attempt: number;
      readonly delay: number;
      readonly code: AgentErrorCode;
      readonly message: string;
    }
  | { readonly type: "planned"; readonly sharedDeps: string; readonly usage: Usage }
  | {
      readonly type: "files";
      readonly files: readonly FileSpec[];
      readonly levels: readonly (readonly string[])[];
      readonly usage: Usage;
    }
  /** A file is there, in memory and in the journal. `usage` is of all calls so far. */
  | {
      readonly type: "file";
      readonly path: string;
      readonly bytes: number;
      readonly done: number;
      readonly total: number;
      readonly usage: Usage;
    }
  /**
   * Round 0 is the first check; each repair is followed by one. `knownErrors` were there before an
   * edit, and are not among `diagnostics`. `checked` and `unchecked` are those of {@link Coverage}.
   * `level` is that of the sandbox, when the project was run.
   */
  | {
      readonly type: "checked";
      readonly round: number;
      readonly diagnostics: readonly Diagnostic[];
      readonly knownErrors?: number | undefined;
      readonly checked: number;
      readonly unchecked: readonly string[];
      readonly level?: SandboxLevel | undefined;
    }
  | {
      readonly type: "written";
      readonly path: string;
      readonly action: WriteAction;
      readonly beside?: string | undefined;
    }
  | { readonly type: "finished"; readonly result: RunResult }
  | { readonly type: "failed"; readonly code: string; readonly message: string };

/** Result of a run. The {@link Coverage} of an edit is that of the files it changes. */
export interface RunResult extends Coverage {
  readonly runId: string;
  /** The folder, as an absolute path. */
  readonly out: string;
  /** Whether no error is left in what was checked, but for those that were there before an edit. */
  readonly ok: boolean;
  /** The files of the program, as the model planned them. */
  readonly plan: ProjectPlan;
  /** Last words of the model of an edit; undefined of other runs. */
  readonly summary?: string | undefined;
  /** Every file, as it was written or left. */
  readonly files: readonly WrittenFile[];
  /** Every file's source, by path; what would have been written, in a dry run. */
  readonly contents: ReadonlyMap<string, string>;
  /** Faults that are left; of an edit, faults since it began. */
  readonly diagnostics: readonly Diagnostic[];
  /** Errors that were there before an edit and still are; 0 for a new program. */
  readonly knownErrors: number;
  /** Repairs that were tried. */
  readonly repairs: number;
  /** Usage of all calls, those before a resumption included. */
  readonly usage: Usage;
  /** The commit of an edit; `null`: new errors or no change; undefined: none was asked for. */
  readonly commit?: string | null | undefined;
  /** Level of the sandbox; undefined: nothing was run. */
  readonly sandbox: SandboxLevel | undefined;
}

/**
 * A run that goes on. Iterate it for its events; each iteration gets all of them from the first on,
 * but for tokens, which are only for those who listen. `result` rejects with an `AgentError` when
 * the run fails.
 */
export interface RunHandle extends AsyncIterable<AgentEvent> {
  readonly runId: string;
  /** Settles at the end of the run; rejects with an `AgentError`. */
  readonly result: Promise<RunResult>;
  /** Ends the run; what is finished stays in its journal, and `resume` goes on. */
  cancel(reason?: string): void;
}
