import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { CommandIo } from "../command/command-io.ts";
import { projectFolder } from "../files/project-folder.ts";

/** Where the project of the working folder keeps its documents. */
export interface ProjectStore {
  /** Absolute path of the project. */
  readonly folder: string;
  /** The environment, with the variables of the project's `.env` that it lacks. */
  readonly env: CommandIo["env"];
  /** The store that the project uses without `DATABASE_URL`; absent if its settings were changed. */
  readonly defaultUrl: string | undefined;
  /** Absolute path of its module of definitions; absent if there is none. */
  readonly definitions: string | undefined;
}

/** Reads what a project says about its store; `undefined` outside of a project. */
export function findProjectStore({ cwd, env }: CommandIo): ProjectStore | undefined {
  const folder = projectFolder(cwd);
  if (folder === undefined) return undefined;
  const definitions = join(folder, "src/definitions.ts");
  return {
    folder,
    env: { ...parseEnv(readText(join(folder, ".env"))), ...env },
    defaultUrl: defaultUrl(folder),
    definitions: existsSync(definitions) ? definitions : undefined,
  };
}

/**
 * Refuses a module that somebody else may have put where a command finds it, such as below `/tmp`.
 *
 * @throws Error for a module of another user than the caller and root, or one that everybody may write.
 */
export function requireOwnModule(file: string): void {
  const { mode, uid } = statSync(file);
  const isOwn = uid === 0 || uid === process.getuid?.();
  if (isOwn && (mode & 0o002) === 0) return;
  throw new Error(
    `${file} belongs to another user or can be written by everybody: run the command as its owner, or pass --definitions`,
  );
}

/** Reads the default from the sources, because to run them would need the secrets of the project. */
function defaultUrl(folder: string): string | undefined {
  const name = /\bname: "([^"]+)"/.exec(readText(join(folder, "src/about.ts")))?.[1];
  const pattern = /`((?:sqlite:|postgres:\/\/)[^`$]*)\$\{about\.name\}([^`$]*)`/;
  const [, start, end] = pattern.exec(readText(join(folder, "src/config.ts"))) ?? [];
  return name === undefined || start === undefined || end === undefined
    ? undefined
    : `${start}${name}${end}`;
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
