import { checkConsistency } from "../check/check-consistency.ts";
import { fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { asLine, cancelled } from "../errors.ts";
import { verifierError } from "./node-verifiers.ts";
import { withCopy, type CopyOptions } from "./program-copy.ts";
import type { SandboxLevel } from "./sandbox.ts";
import type { Verifier } from "./verifier.ts";

/** How a project is run. */
export interface VerifyFilesOptions extends CopyOptions {
  readonly verifiers: readonly Verifier[];
  readonly signal: AbortSignal;
  /** Errors from before an edit, by their {@link fingerprints}: in spite of them, every verifier runs. Default: none. */
  readonly known?: ReadonlySet<string> | undefined;
}

/** The level at which a project is run; undefined where there is nothing in it to run. */
export function levelFor(
  files: ReadonlyMap<string, string>,
  run: VerifyFilesOptions | undefined,
): SandboxLevel | undefined {
  const isRun = run?.verifiers.some((verifier) => verifier.applies(files)) === true;
  return isRun ? run.sandbox.level : undefined;
}

/** Checks a project without running it, and when that finds no error, runs it in a copy that is removed afterwards. */
export async function verifyFiles(
  files: ReadonlyMap<string, string>,
  plan: Parameters<typeof checkConsistency>[1],
  run: VerifyFilesOptions | undefined,
  only?: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const found = await checkConsistency(files, plan, only);
  const broken = [...fingerprints(found)].some((error) => run?.known?.has(error) !== true);
  const verifiers = run?.verifiers.filter((verifier) => verifier.applies(files)) ?? [];
  if (run === undefined || broken || verifiers.length === 0) return found;
  const { signal, known } = run;
  return withCopy(files, run, async (folder, sandbox) => {
    const failures: Diagnostic[] = [];
    for (const verifier of verifiers) {
      if (signal.aborted) throw cancelled(signal);
      const more = await verifier
        .check({ folder, files, signal }, sandbox)
        .catch((cause: unknown) => {
          throw verifierError(verifier.name, cause);
        });
      if (signal.aborted) throw cancelled(signal);
      // The folder has another name each time.
      const said = more.map((one) => ({
        ...one,
        message: one.message.replaceAll(`${folder}/`, ""),
      }));
      failures.push(...said.map((one) => ({ ...one, message: asLine(one.message) })));
      // What cannot be parsed cannot be run; but what is from before an edit must not hide what is new.
      if (fingerprints(more).size > 0 && known === undefined) break;
    }
    return [...found, ...failures];
  });
}
