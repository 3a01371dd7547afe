import { join } from "node:path";
import type { Claim } from "./claims.ts";
import { runWorker } from "./run-worker.ts";
import type { Runtime } from "./runtimes.ts";
import { startProgram, type ProgramEnd } from "./start-program.ts";

/** Where programs are tried. */
export interface Laboratory {
  /** Folder of the runtimes' packages. */
  readonly runtimes: string;
  /** The project that has the packages and `program/`. */
  readonly project: string;
  /** Origin of the API on Node. */
  readonly peer: string;
  /** Milliseconds for one program. */
  readonly limit: number;
}

/** What was seen of an entry on a runtime. */
export interface Trial {
  readonly outcome: "runs" | "imports" | "fails";
  /** Of the test that failed last; empty when none did. */
  readonly output: string;
}

/** Does the test of an entry on a runtime, and where that fails, imports it. */
export async function tryClaim(
  { entry, test }: Claim,
  runtime: Runtime,
  laboratory: Laboratory,
): Promise<Trial> {
  const smoke = await start({ entry, test, runtime }, laboratory);
  if (smoke.code === 0) return { outcome: "runs", output: "" };
  const imported = await start({ entry, test: "import", runtime }, laboratory);
  if (imported.code === 0) return { outcome: "imports", output: smoke.output };
  return { outcome: "fails", output: imported.output };
}

function start(
  {
    entry,
    test,
    runtime,
  }: { readonly entry: string; readonly test: string; readonly runtime: Runtime },
  { runtimes, project, peer, limit }: Laboratory,
): Promise<ProgramEnd> {
  const program = join(runtimes, runtime.package, runtime.program);
  if (runtime.id === "workerd") return runWorker({ program, project, entry, test, peer, limit });
  const args = [...runtime.args, "program/run.ts", entry, test, peer];
  return startProgram(program, { args, cwd: project, limit }).ended;
}
