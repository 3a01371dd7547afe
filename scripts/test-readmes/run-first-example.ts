import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FirstExample } from "./first-example.ts";
import { runProgram } from "./run-program.ts";

/** URLs of this machine with a port: what an example tells its reader to open. */
const served = /http:\/\/(?:127\.0\.0\.1|localhost):\d+[^\s,]*(?=[\s,])/g;

/**
 * Runs a first example as pasted, in a project that has its package: no stand-ins, no keys. It must
 * print something.
 *
 * @returns What is wrong; `undefined` when it ran.
 */
export async function runFirstExample(
  { code, language }: FirstExample,
  project: string,
): Promise<string | undefined> {
  if (language === "ts") writeFileSync(join(project, "example.ts"), `${code}\nexport {};\n`);
  const [command, ...args] =
    language === "ts" ? [process.execPath, "example.ts"] : ["sh", "-ec", code];
  const { stdout, fault } = await runProgram({
    command,
    args,
    folder: project,
    environment: { HOME: project },
    patience: 60_000,
    urls: (output) => Array.from(output.matchAll(served), ([url]) => url),
  });
  return fault ?? (stdout.trim() === "" ? "prints nothing" : undefined);
}
