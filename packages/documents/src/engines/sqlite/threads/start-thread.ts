import { Worker } from "node:worker_threads";

/** Starts a thread that runs a module, which is named without its extension. `base` is the URL of the module that asks. */
export function startThread(module: string, base: string, workerData: unknown): Worker {
  // The sources run as they are, and the package as JavaScript.
  const extension = base.endsWith(".ts") ? "ts" : "js";
  return new Worker(new URL(`${module}.${extension}`, base), { workerData, ...ownFlags() });
}

/**
 * Returns the flags of a thread where it cannot have those of the process: with `--input-type`, which belongs to a program
 * on the command line, Node refuses to run a file. The conditions still decide which files packages consist of.
 */
function ownFlags(): { readonly execArgv?: string[] } {
  const flags = process.execArgv;
  if (!flags.some((flag) => flag.startsWith("--input-type"))) return {};
  return { execArgv: flags.filter((flag) => /^(?:--conditions|-C)=/.test(flag)) };
}
