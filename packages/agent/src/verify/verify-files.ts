import { lchown, mkdtemp, readdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkConsistency } from "../check/check-consistency.ts";
import { fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { asLine, cancelled } from "../errors.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { verifierError } from "./node-verifiers.ts";
import type { Sandbox, SandboxLevel } from "./sandbox.ts";
import { sandboxUser } from "./sealed.ts";
import type { Verifier } from "./verifier.ts";

/** How a project is run. */
export interface VerifyFilesOptions {
  readonly verifiers: readonly Verifier[];
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  /**
   * The folder that the files come from: pictures, and other files that are no text, are copied from it, and the packages
   * that are installed there are linked. Default: none.
   */
  readonly from?: string | undefined;
  /** By path, what is no longer as it is in that folder. Default: nothing. */
  readonly changed?: ReadonlyMap<string, string> | undefined;
  /** Errors from before an edit, by their {@link fingerprints}: in spite of them, every verifier runs. Default: none. */
  readonly known?: ReadonlySet<string> | undefined;
}

/** Most bytes of a file that is copied as it is: what a process in the sandbox may write. */
const mostCopied = 512 * 1024 * 1024;

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
): Promise<readonly Diagnostic[]> {
  const found = await checkConsistency(files, plan);
  const broken = [...fingerprints(found)].some((error) => run?.known?.has(error) !== true);
  const verifiers = run?.verifiers.filter((verifier) => verifier.applies(files)) ?? [];
  if (run === undefined || broken || verifiers.length === 0) return found;
  const { sandbox, signal, from, changed, known } = run;
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-agent-"));
  try {
    // Their sizes were checked where they came from.
    const copy = await ConfinedFolder.open(folder, { maxFileBytes: Infinity });
    const source =
      from === undefined
        ? undefined
        : await ConfinedFolder.open(from, { maxFileBytes: mostCopied, mustExist: true });
    for (const [path, text] of files) {
      // What is no text is known without its content.
      const isUnread = text === "" && changed?.has(path) !== true;
      const bytes = isUnread ? await source?.readBytes(path) : undefined;
      await copy.write(path, bytes ?? text);
    }
    const packages = from === undefined ? undefined : await linkPackages(from, copy.root);
    const user = sandbox.level === "sealed" ? sandboxUser() : undefined;
    if (user !== undefined) {
      const all = await readdir(copy.root, { recursive: true });
      for (const path of ["", ...all]) await lchown(join(copy.root, path), user, user);
    }
    const sealed: Sandbox = {
      level: sandbox.level,
      exec(command, { readOnly = [], ...options }) {
        const shown = packages === undefined ? readOnly : [...readOnly, packages];
        return sandbox.exec(command, { ...options, readOnly: shown });
      },
    };
    const failures: Diagnostic[] = [];
    for (const verifier of verifiers) {
      if (signal.aborted) throw cancelled(signal);
      const project = { folder: copy.root, files, signal };
      const more = await verifier.check(project, sealed).catch((cause: unknown) => {
        throw verifierError(verifier.name, cause);
      });
      if (signal.aborted) throw cancelled(signal);
      const place = `${copy.root}/`;
      // The folder has another name each time.
      const said = more.map((one) => ({ ...one, message: one.message.replaceAll(place, "") }));
      failures.push(...said.map((one) => ({ ...one, message: asLine(one.message) })));
      // What cannot be parsed cannot be run; but what is from before an edit must not hide what is new.
      if (fingerprints(more).size > 0 && known === undefined) break;
    }
    return [...found, ...failures];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Packages are too many to be copied, and are nothing that was written here. Returns the folder that they are in. */
async function linkPackages(from: string, copy: string): Promise<string | undefined> {
  const installed = join(from, "node_modules");
  const found = await stat(installed).catch(() => undefined);
  if (found?.isDirectory() !== true) return undefined;
  const place = join(copy, "node_modules");
  // An edit may have put files there.
  if ((await stat(place).catch(() => undefined)) !== undefined) return undefined;
  // A junction needs no rights on Windows; elsewhere the kind counts for nothing.
  const packages = await realpath(installed);
  await symlink(packages, place, "junction");
  return packages;
}
