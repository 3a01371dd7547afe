import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandIo } from "./command-io.ts";
import { systemReason } from "./system-error.ts";
import { CommandUsageError } from "./usage-error.ts";

/**
 * Reads a secret from a file, or from a variable where no file is named. No option has the secret
 * itself, because other users of the machine see command lines.
 *
 * @throws CommandUsageError when the file cannot be read
 */
export async function readSecret(
  file: string | undefined,
  variable: string,
  { cwd, env }: CommandIo,
): Promise<string | undefined> {
  if (file === undefined) return env[variable] || undefined;
  const text = await readFile(resolve(cwd, file), "utf8").catch((cause: unknown) => {
    const name = JSON.stringify(file);
    throw new CommandUsageError(`cannot read the secret file ${name}: ${systemReason(cause)}`, {
      cause,
    });
  });
  return text.replace(/\r?\n$/, "");
}
