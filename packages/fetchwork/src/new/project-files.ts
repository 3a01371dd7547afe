import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { apiIndex } from "../add/api-index.ts";
import type { PackageSource } from "./package-source.ts";
import { projectManifest } from "./project-manifest.ts";
import type { ProjectOptions } from "./project-options.ts";
import { fillTemplate, type TemplateConditions } from "./template-text.ts";

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

/** Makes the files of a project, by their paths with slashes. Only `.env` differs from one time to the next. */
export function projectFiles(
  options: ProjectOptions,
  source: PackageSource,
): ReadonlyMap<string, ProjectFile> {
  const files = new Map<string, ProjectFile>();
  const conditions = conditionsOf(options, source);
  const replacements = new Map([
    ["my-api", options.name],
    ["My API", options.title],
    ["9000", String(options.port)],
  ]);
  for (const [path, template] of readTemplates()) {
    const text = fillTemplate(template, conditions, replacements);
    // A file that is one excluded region does not belong to this project.
    if (text.trim() !== "") files.set(path, { text });
  }
  files.set("src/api/index.ts", { text: apiIndex([], options.auth.length > 0) });
  files.set("package.json", { text: projectManifest(options, source) });
  const example = files.get(".env.example")?.text ?? "";
  if (source.kind !== "workspace") files.set(".env", { text: withSecrets(example), mode: 0o600 });
  return files;
}

/** What the markers of the templates ask about. */
function conditionsOf(
  { auth, database, list, passwordResets, signUp, webhooks }: ProjectOptions,
  source: PackageSource,
): TemplateConditions {
  return {
    users: auth.length > 0,
    oidc: auth.includes("oidc"),
    public: signUp === "public",
    resets: passwordResets,
    jobs: passwordResets || webhooks,
    webhooks,
    rows: list === "rows",
    postgres: database === "postgres",
    workspace: source.kind === "workspace",
  };
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

function withSecrets(example: string): string {
  return example.replace(/=replace-with-.*$/gm, () => `=${randomBytes(24).toString("hex")}`);
}
