import { resolve } from "node:path";
import type { CollectionDefinition } from "@fetchwork/documents";
import { isObject, type StandardSchema } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { definitionsModule, loadDefinitions } from "../db/definitions.ts";
import { loadModule } from "../files/load-module.ts";

type Resource = Service["resources"][number];

/** What the program wants of the documents of a collection. */
export interface Model {
  readonly collection: CollectionDefinition<object>;
  /** What documents must satisfy; absent for a collection without a schema. */
  readonly schema: StandardSchema<unknown> | undefined;
  /** JSON Schema of each field, as far as the schema describes itself. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Fields that documents must have. */
  readonly required: ReadonlySet<string>;
  /** Other fields that the program names: of owners, indexes and hidden values. */
  readonly others: ReadonlySet<string>;
  /** Fields with identifiers of documents of another collection. */
  readonly references: readonly { readonly field: string; readonly to: string }[];
}

/**
 * Loads the models of a project.
 *
 * @throws CommandUsageError without a module, and for one with `migrations` that `fetchwork db migrate` runs.
 */
export async function loadModels(
  given: string | undefined,
  io: CommandIo,
): Promise<readonly Model[]> {
  const module = definitionsModule(given, io);
  const definitions = await loadDefinitions(given, io);
  if (module === undefined || definitions === undefined) {
    throw new CommandUsageError(
      "there is no project here: pass --definitions, or run it in a project",
    );
  }
  if (definitions.migrations !== undefined) {
    throw new CommandUsageError(
      `${module} exports "migrations", which "fetchwork db migrate" runs: the two cannot be combined`,
    );
  }
  const exports = Object.values({ ...(await loadModule(resolve(io.cwd, module))) });
  const resources = new Map(
    exports.flatMap(resourcesOf).map((each) => [each.collection.name, each]),
  );
  return definitions.collections.map((collection) =>
    modelOf(collection, resources.get(collection.name)),
  );
}

function resourcesOf(value: unknown): readonly Resource[] {
  const resources: unknown = Reflect.get(Object(value), "resources");
  // A service has them, which `defineService` checked.
  return Array.isArray(resources) ? (resources as readonly Resource[]) : [];
}

function modelOf(collection: CollectionDefinition<object>, resource: Resource | undefined): Model {
  const described = describe(resource?.schema ?? collection.schema);
  const { unique, indexes, geo = [], expires } = collection;
  const named = [...unique.flat(), ...indexes.flat(), ...geo, expires?.field ?? []].flat();
  return {
    collection,
    schema: resource?.stored ?? collection.schema,
    ...described,
    others: new Set([
      ...named.map((path) => path.split(".")[0] ?? path),
      ...(resource?.reserved ?? []),
      ...(resource?.owner === undefined ? [] : [resource.owner]),
    ]),
    references: (resource?.relations.references ?? []).map(({ field, to }) => ({
      field,
      to: to().collection.name,
    })),
  };
}

/** Schemas of other libraries may not describe themselves; their documents are checked all the same. */
function describe(schema: unknown): Pick<Model, "properties" | "required"> {
  const standard: unknown = Reflect.get(Object(schema), "~standard");
  const jsonSchema: unknown = Reflect.get(Object(standard), "jsonSchema");
  const input: unknown = Reflect.get(Object(jsonSchema), "input");
  const described: unknown =
    typeof input === "function"
      ? Reflect.apply(input, jsonSchema, [{ target: "draft-2020-12" }])
      : {};
  if (!isObject(described)) return { properties: {}, required: new Set() };
  const { properties, required } = described;
  return {
    properties: isObject(properties) ? properties : {},
    required: new Set(Array.isArray(required) ? required.map(String) : []),
  };
}
