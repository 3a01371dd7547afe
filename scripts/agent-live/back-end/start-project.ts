import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { apiIndex } from "../../../packages/fetchwork/src/add/api-index.ts";
import { projectFiles } from "../../../packages/fetchwork/src/new/project-files.ts";
import type { ProjectOptions } from "../../../packages/fetchwork/src/new/project-options.ts";

/** Files of a project, by path. */
export type Files = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, "../../..");

/** The words that make the project: `fetchwork new shop --yes`. */
const options: ProjectOptions = {
  name: "shop",
  title: "Shop",
  database: "sqlite",
  hasUsers: true,
  passwordResets: false,
  webhooks: false,
  list: "array",
  port: 9000,
};

/** The files of a new project, and those of a task; without secrets, which tests make up. */
export async function startProject(files: Files = {}): Promise<Files> {
  const made = await projectFiles(options, {});
  const own = Array.from(made, ([path, { text }]) => [path, text] as const);
  return withIndex({ ...Object.fromEntries(own.filter(([path]) => path !== ".env")), ...files });
}

/** Writes `src/api/index.ts` as `fetchwork add` does. */
export function withIndex(files: Files): Files {
  const paths = Object.keys(files);
  const namesOf = (pattern: RegExp): readonly string[] =>
    paths.flatMap((path) => pattern.exec(path)?.[1] ?? []).toSorted();
  const models = namesOf(/^src\/api\/(.+)\/model\.ts$/);
  const folders = namesOf(/^src\/api\/(.+)\/index\.ts$/).filter(
    (name) => name !== "auth" && name !== "user",
  );
  const index = apiIndex({
    resources: folders.filter((name) => models.includes(name)),
    routes: folders.filter((name) => !models.includes(name)),
    jobs: namesOf(/^src\/jobs\/(.+)\.ts$/),
    receivers: namesOf(/^src\/receivers\/(.+)\.ts$/),
  });
  return { ...files, "src/api/index.ts": index };
}

/**
 * Makes a project from the packages of this repository in a folder, and returns the folder of its
 * packages.
 */
export async function installPackages(folder: string): Promise<string> {
  const command = join(root, "packages/fetchwork/bin/fetchwork.mjs");
  const words = ["new", folder, "--name", options.name, "--yes", "--skip-git"];
  const args = [command, ...words, "--packages", "tarballs"];
  await promisify(execFile)(process.execPath, args, { timeout: 600_000 });
  return join(folder, "node_modules");
}
