import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";

/**
 * The folder of a program.
 *
 * @throws CommandUsageError when there is none
 */
export function programFolder(named: string, io: CommandIo): string {
  const folder = resolve(io.cwd, named);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandUsageError(`the folder ${JSON.stringify(named)} does not exist`);
  }
  return folder;
}
