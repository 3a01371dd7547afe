import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config, SettingsShape } from "@fetchwork/service";
import { apiIndex } from "../add/api-index.ts";
import { type PackageSource, projectManifest } from "./project-manifest.ts";
import type { ProjectOptions } from "./project-options.ts";
import { projectSources, settingDefaults, settingGroups } from "./project-sources.ts";

/** A file of a project. */
export interface ProjectFile {
  readonly text: string;
  /** Permissions. Default: those of the system. */
  readonly mode?: number | undefined;
}

/** The folder of the templates; its path is the same from the sources and the built files. */
export const templateFolder: string = fileURLToPath(
  new URL("../../templates/project", import.meta.url),
);

/** Makes the files of a project, by paths with slashes. Only `.env` has random content. */
export async function projectFiles(
  options: ProjectOptions,
  source: PackageSource,
): Promise<ReadonlyMap<string, ProjectFile>> {
  const files = new Map<string, ProjectFile>();
  const replacements = {
    "my-api": options.name,
    "My API": options.title,
    "9000": `${options.port}`,
  };
  for (const [path, template] of readTemplates()) {
    if (path.startsWith("src/api/") && !options.hasUsers) continue;
    let text = template;
    for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, () => to);
    files.set(path, { text });
  }
  for (const [path, text] of projectSources(options)) files.set(path, { text });
  const none = { jobs: [], receivers: [], resources: [], routes: [] };
  files.set("src/api/index.ts", { text: apiIndex(none) });
  files.set("package.json", { text: projectManifest(options, source) });
  const { environmentExample, withRandomSecrets } = await import("@fetchwork/service");
  const example = environmentExample(await configOf(options));
  files.set(".env.example", { text: example });
  files.set(".env", { text: withRandomSecrets(example), mode: 0o600 });
  return files;
}

/** The settings that `src/config.ts` of a project has. */
async function configOf(options: ProjectOptions): Promise<Config> {
  const service = await import("@fetchwork/service");
  const groups = settingGroups(options).map((group) => service[group]);
  const shape: SettingsShape = Object.assign({}, ...groups) as SettingsShape;
  return service.defineConfig(shape, settingDefaults(options));
}

/** Reads the templates, by the paths of the files that they become. */
export function readTemplates(): ReadonlyMap<string, string> {
  const entries = readdirSync(templateFolder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    files.toSorted().map((file) => {
      // npm leaves out files such as `.gitignore`, so a dot at the beginning is written as a word.
      const path = relative(templateFolder, file)
        .split(sep)
        .join("/")
        .replace(/(^|\/)dot-/, "$1.");
      return [path, readFileSync(file, "utf8")];
    }),
  );
}
