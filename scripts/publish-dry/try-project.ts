import { mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startProgram } from "../test-runtimes/start-program.ts";
import type { LocalRegistry } from "./local-registry.ts";
import type { PackageManager } from "./package-managers.ts";

/** Where projects are tried. */
export interface Workshop {
  readonly registry: LocalRegistry;
  /** Folders with `node`, `pnpm` and `yarn`, which come before those of `PATH`. */
  readonly path: readonly string[];
  /** Folder for the project; made here. */
  readonly folder: string;
}

/**
 * Makes a project with the packages of the registry and does what its owner does first.
 *
 * @throws Error with the output of the step that fails, or when a package came from somewhere else
 */
export async function tryProject(
  { create, steps, lock }: PackageManager,
  { registry, path, folder }: Workshop,
): Promise<void> {
  mkdirSync(folder);
  const environment = {
    ...registry.environment,
    PATH: [...path, process.env["PATH"] ?? ""].join(delimiter),
  };
  const step = async ([file = "", ...args]: readonly string[], cwd: string): Promise<void> => {
    const { code, output } = await startProgram(file, { args, cwd, limit: 600_000, environment })
      .ended;
    if (code !== 0) throw new Error(`${[file, ...args].join(" ")} ended with ${code}:\n${output}`);
  };
  await step(create, folder);
  const project = join(folder, "shop");
  const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  if ("node" in dependencies) throw new Error("the project brings another Node");
  for (const one of steps) await step(one, project);
  const foreign = originsIn(readFileSync(join(project, lock), "utf8")).filter(
    (url) => !url.startsWith(registry.url),
  );
  if (foreign.length > 0) throw new Error(`${lock} names another registry: ${foreign[0]}`);
}

/** URLs of tarballs in a lock file. */
function originsIn(text: string): readonly string[] {
  return text.match(/https?:\/\/[^\s"')]+\.tgz/g) ?? [];
}
