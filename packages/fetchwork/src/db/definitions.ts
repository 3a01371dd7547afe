import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CollectionDefinition, defineCollection, type Migration } from "@fetchwork/documents";
import type { DocumentMigration, Service } from "@fetchwork/service";
import type { CommandIo } from "../command/command-io.ts";
import { loadModule } from "../files/load-module.ts";
import { projectFolder } from "../files/project-folder.ts";

/** A resource of a service. */
export type Resource = Service["resources"][number];

/** Definitions of a program for its store. */
export interface Definitions {
  readonly collections: readonly CollectionDefinition<object>[];
  /** Its migrations; undefined when it names none. */
  readonly migrations: readonly Migration[] | undefined;
  /** Migrations of its services, which `fetchwork migrate run` runs. */
  readonly own: readonly DocumentMigration[];
  /** The resources of its services, which `defineService` checked. */
  readonly resources: readonly Resource[];
}

/** The option that names a module with definitions. */
export const definitionsOption = {
  definitions: {
    type: "string",
    short: "d",
    hint: "module",
    description:
      "Module that exports collection definitions, and `migrations` if there are any (default: src/app.ts of the project)",
  },
} as const;

/** Returns the given module of definitions, or the project's; `undefined` without either. */
export function definitionsModule(
  given: string | undefined,
  { cwd }: Pick<CommandIo, "cwd">,
): string | undefined {
  const project = given === undefined ? projectFolder(cwd) : undefined;
  if (project === undefined) return given;
  const module = join(project, "src/app.ts");
  return existsSync(module) ? module : undefined;
}

/**
 * Refuses a module that somebody else may have put where a command finds it, such as below `/tmp`.
 *
 * @throws Error for a module of another user than the caller and root, or one that everybody may
 * write.
 */
export function requireOwnModule(file: string): void {
  const { mode, uid } = statSync(file);
  const isOwn = uid === 0 || uid === process.getuid?.();
  if (isOwn && (mode & 0o002) === 0) return;
  throw new Error(
    `${file} belongs to another user or can be written by everybody: run the command as its owner, or pass --definitions`,
  );
}

/**
 * Loads the definitions of a program: every export that is a collection definition, a list of them
 * or a service, and the list `migrations`. The module is run, as the program itself would run it.
 * Resolves to `undefined` where no module is given and the project has none.
 */
export async function loadDefinitions(
  given: string | undefined,
  io: CommandIo,
): Promise<Definitions | undefined> {
  const module = definitionsModule(given, io);
  if (module === undefined) return undefined;
  if (given === undefined) requireOwnModule(module);
  const { migrations, ...others } = await loadModule(resolve(io.cwd, module));
  if (migrations !== undefined && !Array.isArray(migrations)) {
    throw new Error(`"migrations" of ${module} must be an array`);
  }
  const found = new Map<string, CollectionDefinition<object>>();
  const values = Object.values(others).flat();
  for (const value of values.flatMap((each) => partsOf(each, "collections") ?? each)) {
    if (isDefinition(value)) found.set(value.name, value);
  }
  if (found.size === 0 && migrations === undefined) {
    throw new Error(`${module} must export at least one collection definition`);
  }
  return {
    collections: [...found.values()],
    // The store checks every one of them before it does anything.
    migrations: migrations as readonly Migration[] | undefined,
    own: values.flatMap(
      (each) =>
        (partsOf(Reflect.get(Object(each), "options"), "migrations") ??
          []) as readonly DocumentMigration[],
    ),
    resources: values.flatMap((each) => (partsOf(each, "resources") ?? []) as readonly Resource[]),
  };
}

/**
 * Loads definitions that a command can do without. Definitions of the project that cannot be loaded
 * are reported and left out. So a backup works without a project that runs.
 */
export async function loadHelpfulDefinitions(
  given: string | undefined,
  io: CommandIo,
): Promise<Definitions["collections"]> {
  try {
    return (await loadDefinitions(given, io))?.collections ?? [];
  } catch (error) {
    if (given !== undefined || !(error instanceof Error)) throw error;
    io.stderr.write(`continuing without definitions: ${error.message}\n`);
    return [];
  }
}

/** Reads a definition that was written as JSON. */
export function parseDefinition(value: unknown): CollectionDefinition<object> {
  if (!isDefinition(value)) throw new Error("malformed collection definition");
  const { name, ...options } = value;
  // `defineCollection` rejects anything but paths and known words.
  return defineCollection(name, options as object);
}

/** Parts of a service; `undefined` for anything else. */
function partsOf(value: unknown, name: string): readonly unknown[] | undefined {
  const parts: unknown = Reflect.get(Object(value), name);
  return Array.isArray(parts) ? parts : undefined;
}

function isDefinition(value: unknown): value is CollectionDefinition<object> {
  if (typeof value !== "object" || value === null) return false;
  const lists = ["unique", "indexes", "search"].map((name): unknown => Reflect.get(value, name));
  return typeof Reflect.get(value, "name") === "string" && lists.every(Array.isArray);
}
