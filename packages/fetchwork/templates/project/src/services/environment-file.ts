import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadEnvFile } from "node:process";
import { StartError } from "./start-error.ts";

/** A file that completed the environment. */
export interface EnvironmentFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Loads `.env` into the environment; what is set there already stays. Gives the file, when there is one.
 *
 * In development the file is made from `.env.example` when it is not there, with random secrets and readable by
 * its owner only.
 *
 * @throws StartError when the file cannot be made or read.
 */
export function loadEnvironment(folder: string): EnvironmentFile | undefined {
  const file = path.join(folder, ".env");
  try {
    if (!existsSync(file)) {
      if (process.env["NODE_ENV"] === "production") return undefined;
      makeFile(file, readFileSync(path.join(folder, ".env.example"), "utf8"));
    }
    loadEnvFile(file);
    return { path: file, text: readFileSync(file, "utf8") };
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause;
    throw new StartError((cause as Error).message, { cause });
  }
}

function makeFile(file: string, example: string): void {
  const filled = example.replace(
    /=replace-with-.*$/gm,
    () => `=${randomBytes(24).toString("hex")}`,
  );
  try {
    writeFileSync(file, filled, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process has made it at the same moment.
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
