import { resolve } from "node:path";
import type { CollectionDefinition } from "@fetchwork/documents";
import { isObject, type StandardSchema } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { definitionsModule, loadDefinitions } from "../db/definitions.ts";
import { loadModule } from "../files/load-module.ts";

type Resource = Service["resources"][number];

/** Demands of a program on the documents of a collection. */
export interface Model {
  readonly collection: CollectionDefinition<object>;
  /** Schema of the documents; absent for a collection without one. */
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
 * @throws CommandUsageError without a module, or for one with `migrations` of `db migrate`.
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
  // A service has them, which `defineService` checked.
  const found = exports.flatMap(
    (each) => (Reflect.get(Object(each), "resources") as Resource[] | undefined) ?? [],
  );
  const resources = new Map(found.map((each) => [each.collection.name, each]));
  return definitions.collections.map((collection) =>
    modelOf(collection, resources.get(collection.name)),
  );
}

function modelOf(collection: CollectionDefinition<object>, resource: Resource | undefined): Model {
  const { properties, required } = describe(resource?.schema ?? collection.schema);
  const { unique, indexes, geo = [], expires } = collection;
  const paths = [...unique.flat(), ...indexes.flat(), ...geo, expires?.field ?? []].flat();
  const others = [
    ...paths.map((path) => path.split(".")[0] ?? path),
    ...(resource?.reserved ?? []),
  ];
  const references = resource?.relations.references ?? [];
  return {
    collection,
    schema: resource?.stored ?? collection.schema,
    properties: isObject(properties) ? properties : {},
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    others: new Set([...others, resource?.owner ?? []].flat()),
    references: references.map(({ field, to }) => ({ field, to: to().collection.name })),
  };
}

/** Schemas of other libraries may not describe themselves; their documents are still checked. */
function describe(schema: unknown): Readonly<Record<string, unknown>> {
  const standard: unknown = Reflect.get(Object(schema), "~standard");
  const jsonSchema: unknown = Reflect.get(Object(standard), "jsonSchema");
  const input: unknown = Reflect.get(Object(jsonSchema), "input");
  if (typeof input !== "function") return {};
  const described: unknown = Reflect.apply(input, jsonSchema, [{ target: "draft-2020-12" }]);
  return isObject(described) ? described : {};
}
