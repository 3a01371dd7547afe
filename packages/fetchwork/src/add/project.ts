import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandUsageError } from "../command/usage-error.ts";

/** A project that `fetchwork new` has made. */
export interface Project {
  readonly folder: string;
  /** Whether users sign in. */
  readonly hasUsers: boolean;
  /** Shape of the lists of new resources. */
  readonly list: "array" | "rows";
}

/**
 * Finds the project that a folder is in.
 *
 * @throws CommandUsageError when it is in none.
 */
export function findProject(cwd: string): Project {
  let folder = cwd;
  while (
    !existsSync(join(folder, "src/api/index.ts")) ||
    !existsSync(join(folder, "package.json"))
  ) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new CommandUsageError(
        "no project in this folder: create one with fetchwork new, then change to its folder",
      );
    }
    folder = parent;
  }
  return {
    folder,
    hasUsers: existsSync(join(folder, "src/api/user/model.ts")),
    list: listShape(join(folder, "package.json")),
  };
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
