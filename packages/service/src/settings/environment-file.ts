import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { systemCodeOf } from "@fetchwork/http/transport";
import { StartError } from "../errors.ts";
import type { Config } from "./define-config.ts";
import { environmentExample, withRandomSecrets } from "./environment-example.ts";
import { isRequired } from "./setting.ts";

/** A file that completed the environment. */
export interface EnvironmentFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Loads `.env` of a folder into the environment; what is set there already stays. Returns the file,
 * when there is one.
 *
 * In development the file is made when it is not there, with random secrets and readable by its
 * owner only. Where that is not possible, as in a read-only folder, the environment alone must have
 * what is required.
 *
 * @throws StartError when the file cannot be made and what is required is not in the environment,
 * or it cannot be read.
 */
export function loadEnvironment(
  folder: string,
  config: Pick<Config, "defaults" | "shape">,
): EnvironmentFile | undefined {
  const file = path.join(folder, ".env");
  if (!existsSync(file)) {
    if (process.env["NODE_ENV"] === "production") return undefined;
    const example = environmentExample(config);
    try {
      makeFile(file, example);
    } catch (cause) {
      const required = Object.entries(config.shape).filter(([, setting]) => isRequired(setting));
      const names = required.map(([name]) => name);
      if (names.every((name) => process.env[name])) return undefined;
      throw startError(cause, (why) => `${why}; make it possible, or set ${names.join(" and ")}`);
    }
  }
  try {
    // Not by `loadEnvFile`, whose first name has the byte order mark of an editor.
    const text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
    for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
    return { path: file, text };
  } catch (cause) {
    throw startError(cause, (why) => (why.includes(file) ? why : `${file}: ${why}`));
  }
}

function makeFile(file: string, example: string): void {
  try {
    writeFileSync(file, withRandomSecrets(example), { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process has made it at the same moment.
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
}

/** Other errors than those of the system stay as they are. */
function startError(cause: unknown, describe: (why: string) => string): unknown {
  if (systemCodeOf(cause) === undefined) return cause;
  return new StartError(describe((cause as Error).message), { cause });
}
