import { CommandUsageError } from "../command/usage-error.ts";
import { apiIndex, type ProjectParts } from "./api-index.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { resourceFiles } from "./resource-files.ts";

/** Path of the module that lists resources and routes. */
export const registry = "src/api/index.ts";

/**
 * Returns the files that a resource adds to a project or changes in it, by path; empty when
 * everything exists.
 *
 * @param read - Returns the text of a file by its path in the project.
 * @throws CommandUsageError when one of them exists with other content.
 */
export function addResource(
  definition: ResourceDefinition,
  {
    read,
    parts,
  }: { readonly parts: ProjectParts; readonly read: (path: string) => string | undefined },
): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const [path, text] of resourceFiles(definition)) {
    const found = read(path);
    if (found === undefined) changed.set(path, text);
    else if (found !== text) {
      throw new CommandUsageError(`${path} already exists with other content; nothing was changed`);
    }
  }
  const index = apiIndex(withPart(parts, "resources", definition.names.kebab));
  if (read(registry) !== index) changed.set(registry, index);
  return changed;
}

/** Adds a name to a list of parts, once. */
export function withPart(
  parts: ProjectParts,
  list: keyof ProjectParts,
  name: string,
): ProjectParts {
  return { ...parts, [list]: [...new Set([...parts[list], name])].toSorted() };
}
