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
 * its owner only. Where that is not possible, as in a folder that is read-only, the environment alone will do when it
 * has the secrets.
 *
 * @throws StartError when the file cannot be made and the secrets are not in the environment, or it cannot be read.
 */
export function loadEnvironment(folder: string): EnvironmentFile | undefined {
  const file = path.join(folder, ".env");
  if (!existsSync(file)) {
    if (process.env["NODE_ENV"] === "production") return undefined;
    try {
      makeFile(file, readFileSync(path.join(folder, ".env.example"), "utf8"));
    } catch (cause) {
      if (secrets.every((name) => process.env[name])) return undefined;
      throw startError(cause, (why) => `${why}; make it possible, or set ${secrets.join(" and ")}`);
    }
  }
  try {
    // Before `loadEnvFile`, which takes a file that others own for one that is not there.
    const text = readFileSync(file, "utf8");
    loadEnvFile(file);
    return { path: file, text };
  } catch (cause) {
    throw startError(cause, (why) => (why.includes(file) ? why : `${file}: ${why}`));
  }
}

/** What must be set, be it in the file or elsewhere. */
const secrets = ["MASTER_KEY", "JWT_SECRET"] as const;

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

/** What is no error of the system stays as it is. */
function startError(cause: unknown, describe: (why: string) => string): unknown {
  if (codeOf(cause) === undefined) return cause;
  return new StartError(describe((cause as Error).message), { cause });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
