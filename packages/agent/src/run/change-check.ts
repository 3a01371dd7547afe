import { checkConsistency } from "../check/check-consistency.ts";
import { fingerprintOf, fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { coverageOf, type Coverage } from "../verify/coverage.ts";
import type { SandboxLevel } from "../verify/sandbox.ts";
import { levelFor, verifyFiles, type VerifyFilesOptions } from "../verify/verify-files.ts";

/** What is wrong with a changed program. The coverage is that of the changed files. */
export interface ChangeReport extends Coverage {
  /** What is wrong since the change. */
  readonly diagnostics: readonly Diagnostic[];
  /** Errors that were there before, and still are. */
  readonly knownErrors: number;
  readonly level: SandboxLevel | undefined;
}

type RunOptions = Omit<VerifyFilesOptions, "changed" | "known">;

/** Checks what becomes of a program. What was wrong before is looked for only when something is wrong afterwards. */
export class ChangeCheck {
  readonly #before: ReadonlyMap<string, string>;
  readonly #run: RunOptions | undefined;
  #known: Promise<ReadonlySet<string>> | undefined;
  #knownToRun: Promise<ReadonlySet<string>> | undefined;

  /** @param run how the program is run; undefined: it is not */
  constructor(before: ReadonlyMap<string, string>, run: RunOptions | undefined) {
    this.#before = before;
    this.#run = run;
  }

  /** New faults that can be found without running the program. */
  async withoutRunning(files: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> {
    const found = await checkConsistency(files);
    if (found.length === 0) return found;
    const known = await this.#knownFaults();
    return found.filter((one) => !known.has(fingerprintOf(one)));
  }

  /** New faults, also those that show when the program is run. */
  async report(files: ReadonlyMap<string, string>): Promise<ChangeReport> {
    const changed = new Map([...files].filter(([path, text]) => this.#before.get(path) !== text));
    const known = this.#run === undefined ? undefined : await this.#knownFaults();
    const run = this.#run && { ...this.#run, changed, known };
    const found = await verifyFiles(files, undefined, run);
    const old = found.length === 0 ? new Set<string>() : await this.#faultsBefore(found);
    const diagnostics = found.filter((one) => !old.has(fingerprintOf(one)));
    return {
      diagnostics,
      knownErrors: fingerprints(found).size - fingerprints(diagnostics).size,
      ...coverageOf(changed, run?.verifiers, files),
      level: levelFor(files, run),
    };
  }

  async #faultsBefore(found: readonly Diagnostic[]): Promise<ReadonlySet<string>> {
    const run = this.#run;
    const known = await this.#knownFaults();
    if (run === undefined || !found.some(({ code }) => code === "verification")) return known;
    this.#knownToRun ??= verifyFiles(this.#before, undefined, { ...run, known }).then(fingerprints);
    return this.#knownToRun;
  }

  #knownFaults(): Promise<ReadonlySet<string>> {
    return (this.#known ??= checkConsistency(this.#before).then(fingerprints));
  }
}
