import { checkConsistency } from "../check/check-consistency.ts";
import { fingerprintOf, fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { AgentError, asLine, cancelled } from "../errors.ts";
import { withCopy, type CopyOptions } from "./program-copy.ts";
import type { SandboxLevel } from "./sandbox.ts";
import type { Verifier } from "./verifier.ts";

/** How a project is run. */
export interface VerifyFilesOptions extends CopyOptions {
  readonly verifiers: readonly Verifier[];
  readonly signal: AbortSignal;
  /** {@link fingerprints} of errors before an edit; verifiers ignore them. Default: none. */
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

/** Whether a program is not run for an error: for what cannot be parsed, a new one for each. */
export function preventsRun({ code, severity }: Diagnostic, isNew: boolean): boolean {
  return severity === "error" && (code === "syntax" || (isNew && code !== "verification"));
}

/**
 * Checks a project statically and, unless an error prevents it, runs it in a temporary copy. If a
 * program was there before, without a plan, its own tools decide what is wrong with it: an error
 * that they do not report is a warning, but in a file that cannot be parsed.
 */
export async function verifyFiles(
  files: ReadonlyMap<string, string>,
  plan: Parameters<typeof checkConsistency>[1],
  run: VerifyFilesOptions | undefined,
  only?: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const found = await checkConsistency(files, plan, only);
  const isOld = (one: Diagnostic): boolean => run?.known?.has(fingerprintOf(one)) === true;
  const isNew = plan !== undefined;
  const broken = found.some((one) => preventsRun(one, isNew) && !isOld(one));
  const verifiers = run?.verifiers.filter((verifier) => verifier.applies(files)) ?? [];
  if (run === undefined || broken || verifiers.length === 0) return found;
  const { signal, known } = run;
  return withCopy(files, run, async (folder, sandbox) => {
    const failures: Diagnostic[] = [];
    const passed: Verifier[] = [];
    for (const verifier of verifiers) {
      if (signal.aborted) throw cancelled(signal);
      const more = await verifier
        .check({ folder, files, signal }, sandbox)
        .catch((cause: unknown) => {
          // It failed by itself: that is not a fault of the project.
          const message = `the verifier ${verifier.name} could not run`;
          throw new AgentError("ERR_AGENT_SANDBOX", message, { cause });
        });
      if (signal.aborted) throw cancelled(signal);
      if (more.length === 0) passed.push(verifier);
      // The folder has another name each time.
      const further = more.map((one) => ({
        ...one,
        message: one.message.replaceAll(`${folder}/`, ""),
      }));
      failures.push(...further.map((one) => ({ ...one, message: asLine(one.message) })));
      // A program that cannot be parsed cannot be run; but old faults must not hide new faults.
      if (fingerprints(more).size > 0 && known === undefined) break;
    }
    const judged = found.map((one): Diagnostic => {
      const isError = one.severity === "error" && one.code !== "syntax" && !isNew && !isOld(one);
      if (!isError || !passed.some(({ judges }) => judges?.(one.path))) return one;
      return { ...one, severity: "warning", unconfirmed: true };
    });
    return [...judged, ...failures];
  });
}
