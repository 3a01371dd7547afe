import { existsSync, readFileSync } from "node:fs";
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
  /** The store of the project without `DATABASE_URL`; absent if its settings were changed. */
  readonly defaultUrl: string | undefined;
}

/** Reads what a project says about its store; `undefined` outside of a project. */
export function findProjectStore({ cwd, env }: CommandIo): ProjectStore | undefined {
  const folder = projectFolder(cwd);
  if (folder === undefined) return undefined;
  return {
    folder,
    env: { ...parseEnv(readText(join(folder, ".env")).replace(/^\uFEFF/, "")), ...env },
    defaultUrl: defaultUrl(folder),
  };
}

/** Reads the default from the sources: running them would need the secrets of the project. */
function defaultUrl(folder: string): string | undefined {
  const name = /^ {2}name: "([^"]+)"/m.exec(readText(join(folder, "src/app.ts")))?.[1];
  const config = readText(join(folder, "src/config.ts"));
  if (name === undefined || !config.includes("serverSettings")) return undefined;
  const [, given] = /\bDATABASE_URL: (.*)/.exec(config) ?? [];
  return given === undefined ? `sqlite:data/${name}.db` : /^"([^"]+)"/.exec(given)?.[1];
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
