import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { newDatabase } from "../../../documents/test/open-for-test.ts";
import { noPostgres } from "../../../documents/test/postgres-server.ts";
import type { CommandIo } from "../../src/command/command-io.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";

/** The module of definitions that the tests use. */
export const allDefinitions: string = join(import.meta.dirname, "shop-definitions.ts");

/** Makes the URL of a store that does not exist yet, or is empty, for each engine. */
export const allEngines: readonly (readonly [engine: string, newUrl: () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(newFolder(), "a.db")}`)],
  ...(noPostgres === undefined ? [["PostgreSQL", newDatabase] as const] : []),
];

/** Makes a folder that is removed when the test ends. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fetchwork-db-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Runs `fetchwork db`; returns the exit code and what was written. */
export async function runDb(
  args: readonly string[],
  given: Partial<CommandIo> = {},
): Promise<readonly [code: number, stdout: string, stderr: string]> {
  const io = memoryIo(given);
  const code = await runCommand(commands, { args: ["db", ...args], io });
  return [code, io.written.stdout, io.written.stderr];
}
