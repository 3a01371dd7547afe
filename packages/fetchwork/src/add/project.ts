import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandUsageError } from "../command/usage-error.ts";
import { projectFolder } from "../files/project-folder.ts";

/** A project that `fetchwork new` has made. */
export interface Project {
  readonly folder: string;
  /** Whether users sign in. */
  readonly hasUsers: boolean;
  /** Whether changes are announced by webhooks. */
  readonly hasWebhooks: boolean;
  /** Shape of the lists of new resources. */
  readonly list: "array" | "rows";
}

/**
 * Finds the project that a folder is in.
 *
 * @throws CommandUsageError when it is in none.
 */
export function findProject(cwd: string): Project {
  const folder = projectFolder(cwd);
  if (folder === undefined) {
    throw new CommandUsageError(
      "no project in this folder: create one with fetchwork new, then change to its folder",
    );
  }
  return {
    folder,
    hasUsers: existsSync(join(folder, "src/api/user/model.ts")),
    hasWebhooks: /^ {2}webhooks\b/m.test(textOf(join(folder, "src/app.ts"))),
    list: listShape(join(folder, "package.json")),
  };
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function listShape(file: string): Project["list"] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new CommandUsageError(`${file} is not valid JSON`, { cause });
  }
  const own: unknown = Reflect.get(Object(manifest), "fetchwork");
  return Reflect.get(Object(own), "list") === "rows" ? "rows" : "array";
}
