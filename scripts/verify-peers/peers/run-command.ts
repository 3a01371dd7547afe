import { delimiter } from "node:path";
import { type RunningProgram, startProgram } from "../../test-runtimes/start-program.ts";

const installLimit = 15 * 60_000;
const runLimit = 60 * 60_000;

/**
 * Variables of a peer: it runs on the Node of this machine, not on that of this repository, and
 * reports nothing home.
 */
const environment = {
  PATH: (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter),
  NODE_ENV: "development",
  NODE_OPTIONS: "",
  STRAPI_TELEMETRY_DISABLED: "true",
};

/**
 * Runs a command to its end.
 *
 * @throws Error with its output when it fails.
 */
export async function runCommand(
  cwd: string,
  file: string,
  ...args: readonly string[]
): Promise<string> {
  console.error(`$ ${file} ${args.join(" ")}`);
  const { code, output } = await startProgram(file, { args, cwd, environment, limit: installLimit })
    .ended;
  if (code === 0) return output;
  throw new Error(`${file} ${args.join(" ")} ended with ${code}:\n${output.slice(-4000)}`);
}

/** Starts a server; who calls it ends it. */
export function startServer(
  cwd: string,
  [file = "", ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
): RunningProgram {
  console.error(`$ ${file} ${args.join(" ")}`);
  return startProgram(file, {
    args,
    cwd,
    environment: { ...environment, ...variables },
    limit: runLimit,
  });
}
