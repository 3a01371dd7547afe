import { affectedBy } from "../check/affected-files.ts";
import { checkConsistency } from "../check/check-consistency.ts";
import { fingerprintOf, fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { changedPaths } from "../files/changed-paths.ts";
import { coverageOf, type Coverage } from "../verify/coverage.ts";
import type { SandboxLevel } from "../verify/sandbox.ts";
import {
  levelFor,
  preventsRun,
  verifyFiles,
  type VerifyFilesOptions,
} from "../verify/verify-files.ts";
import type { Emit } from "./run-handle.ts";

/** Faults of a changed program. The coverage is that of the changed files. */
export interface ChangeReport extends Coverage {
  /** Faults since the change. */
  readonly diagnostics: readonly Diagnostic[];
  /** Errors that were there before, and still are. */
  readonly knownErrors: number;
  readonly level: SandboxLevel | undefined;
}

type RunOptions = Omit<VerifyFilesOptions, "changed" | "known">;

function isFailedRun({ code, severity }: Diagnostic): boolean {
  return code === "verification" && severity === "error";
}

/** Checks a changed program. Earlier faults are looked for only when something is wrong. */
export class ChangeCheck {
  readonly #before: ReadonlyMap<string, string>;
  readonly #run: RunOptions | undefined;
  readonly #known = new Map<string, Promise<ReadonlySet<string>>>();
  #knownToRun: Promise<ReadonlySet<string>> | undefined;
  /** Fingerprints of what was said and a tool decides about. */
  readonly #shown = new Set<string>();

  /** @param run how the program is run; undefined: it is not */
  constructor(before: ReadonlyMap<string, string>, run: RunOptions | undefined) {
    this.#before = before;
    this.#run = run;
  }

  /**
   * New errors that can be found without running the program. Each one that a tool decides about is
   * said once, unless its file cannot be parsed.
   */
  async withoutRunning(files: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> {
    const only = affectedBy(changedPaths(this.#before, files), files);
    const found = await checkConsistency(files, undefined, only);
    if (found.length === 0) return found;
    const known = await this.#knownFaults(only);
    const fresh = found.filter((one) => {
      const fingerprint = fingerprintOf(one);
      return one.severity === "error" && !known.has(fingerprint) && !this.#shown.has(fingerprint);
    });
    for (const one of fresh) {
      const isDecided = this.#run?.verifiers.some((tool) => tool.judges?.(one.path) === true);
      if (isDecided === true && one.code !== "syntax") this.#shown.add(fingerprintOf(one));
    }
    return fresh;
  }

  /** Says that a round of checks begins, finds new faults, and says what was found. */
  async round(
    round: number,
    files: ReadonlyMap<string, string>,
    emit: Emit,
  ): Promise<ChangeReport> {
    emit({ type: "step", step: "verify", round });
    const report = await this.#report(files);
    emit({ type: "checked", round, ...report });
    return report;
  }

  /** New faults, also those that show when the program is run. */
  async #report(files: ReadonlyMap<string, string>): Promise<ChangeReport> {
    const paths = changedPaths(this.#before, files);
    const only = affectedBy(paths, files);
    const changed = new Map(
      paths.flatMap((path) => {
        const text = files.get(path);
        return text === undefined ? [] : [[path, text] as const];
      }),
    );
    const run = this.#run && { ...this.#run, changed, known: await this.#knownFaults(only) };
    const found = await verifyFiles(files, undefined, run, only);
    const hasErrors = fingerprints(found).size > 0;
    const old = hasErrors ? await this.#faultsBefore(found, only) : new Set<string>();
    const diagnostics = found.filter((one) => !old.has(fingerprintOf(one)));
    return {
      diagnostics,
      knownErrors: fingerprints(found).size - fingerprints(diagnostics).size,
      ...coverageOf(changed, run?.verifiers, files),
      level: diagnostics.some((one) => preventsRun(one, false)) ? undefined : levelFor(files, run),
    };
  }

  async #faultsBefore(
    found: readonly Diagnostic[],
    only: ReadonlySet<string> | undefined,
  ): Promise<ReadonlySet<string>> {
    const known = await this.#knownFaults(only);
    if (!this.#run || !found.some(isFailedRun)) return known;
    const run = { ...this.#run, known };
    this.#knownToRun ??= verifyFiles(this.#before, undefined, run, only).then(fingerprints);
    return new Set([...known, ...(await this.#knownToRun)]);
  }

  #knownFaults(only: ReadonlySet<string> | undefined): Promise<ReadonlySet<string>> {
    const key = only === undefined ? "" : [...only].toSorted().join("\n");
    const known =
      this.#known.get(key) ?? checkConsistency(this.#before, undefined, only).then(fingerprints);
    this.#known.set(key, known);
    return known;
  }
}
