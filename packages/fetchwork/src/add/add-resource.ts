import { CommandUsageError } from "../command/usage-error.ts";
import { registerResource } from "./register-resource.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { resourceFiles } from "./resource-files.ts";

/** Path of the module that lists resources and routes. */
export const registry = "src/api/index.ts";

/**
 * Returns the files that a resource adds to a project or changes in it, by path; empty when everything exists.
 *
 * @throws CommandUsageError when one of them exists with other content.
 */
export function addResource(
  definition: ResourceDefinition,
  read: (path: string) => string | undefined,
): ReadonlyMap<string, string> {
  const { camel, kebab } = definition.names;
  const changed = new Map<string, string>();
  for (const [path, text] of resourceFiles(definition)) {
    const found = read(path);
    if (found === undefined) changed.set(path, text);
    else if (found !== text) {
      throw new CommandUsageError(`${path} already exists with other content; nothing was changed`);
    }
  }
  const source = read(registry);
  if (source === undefined)
    throw new CommandUsageError(`${registry} does not exist in this folder`);
  const registered = register(source, { camel, kebab });
  if (registered !== source) changed.set(registry, registered);
  return changed;
}

function register(
  source: string,
  { camel, kebab }: { readonly camel: string; readonly kebab: string },
): string {
  try {
    return registerResource(source, { folder: kebab, definition: camel, routes: `${camel}Routes` });
  } catch (cause) {
    const fault = cause instanceof Error ? cause.message : String(cause);
    throw new CommandUsageError(`cannot change ${registry}: ${fault}; nothing was changed`, {
      cause,
    });
  }
}
