import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

/** Where and with what a block is run. */
export interface RunOptions {
  /** Absolute path of the block's file. */
  readonly file: string;
  /** Working directory, which a second run finds as the first one left it. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Runs a block as a program whose connections go to the stand-ins.
 *
 * @returns What is wrong; `undefined` when it ran.
 */
export async function runBlock(options: RunOptions): Promise<string | undefined> {
  const { file, folder, environment } = options;
  const listening = join(folder, ".listening");
  rmSync(listening, { force: true });
  const { fault } = await runProgram({
    command: process.execPath,
    args: ["--import", new URL("redirect.mjs", import.meta.url).href, file],
    folder,
    environment: { ...environment, FETCHWORK_LISTENING: listening },
    patience: 8000,
    urls: () => {
      // Empty while it is being written
      const port = existsSync(listening) ? readFileSync(listening, "utf8") : "";
      return port === "" ? [] : [`http://127.0.0.1:${port}/`];
    },
  });
  return fault;
}
