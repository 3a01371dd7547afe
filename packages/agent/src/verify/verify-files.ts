import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkConsistency } from "../check/check-consistency.ts";
import type { Diagnostic } from "../check/diagnostic.ts";
import { asLine, cancelled } from "../errors.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { verifierError } from "./node-verifiers.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Verifier } from "./verifier.ts";

/** How a project is run. */
export interface VerifyFilesOptions {
  readonly verifiers: readonly Verifier[];
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
}

/** Checks a project without running it, and when that finds no error, runs it in a copy that is removed afterwards. */
export async function verifyFiles(
  files: ReadonlyMap<string, string>,
  plan: Parameters<typeof checkConsistency>[1],
  run: VerifyFilesOptions | undefined,
): Promise<readonly Diagnostic[]> {
  const found = await checkConsistency(files, plan);
  const broken = found.some(({ severity }) => severity === "error");
  const verifiers = run?.verifiers.filter((verifier) => verifier.applies(files)) ?? [];
  if (run === undefined || broken || verifiers.length === 0) return found;
  const { sandbox, signal } = run;
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-agent-"));
  try {
    // Their sizes were checked where they came from.
    const copy = await ConfinedFolder.open(folder, { maxFileBytes: Infinity });
    for (const [path, text] of files) await copy.write(path, text);
    const failures: Diagnostic[] = [];
    for (const verifier of verifiers) {
      if (signal.aborted) throw cancelled(signal);
      const project = { folder: copy.root, files, signal };
      const more = await verifier.check(project, sandbox).catch((cause: unknown) => {
        throw verifierError(verifier.name, cause);
      });
      if (signal.aborted) throw cancelled(signal);
      failures.push(...more.map((one) => ({ ...one, message: asLine(one.message) })));
      // What cannot be parsed cannot be run.
      if (more.length > 0) break;
    }
    return [...found, ...failures];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
