import type { CollectionDefinition } from "@fetchwork/documents";
import { isObject, type StandardSchema } from "@fetchwork/kit";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { loadDefinitions, type Resource } from "../db/definitions.ts";
import { inProject } from "../files/project-folder.ts";

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
  const definitions = inProject(await loadDefinitions(given, io), "definitions");
  if (definitions.migrations !== undefined) {
    throw new CommandUsageError(
      'the definitions have "migrations", which "fetchwork db migrate" runs: the two cannot be combined',
    );
  }
  const resources = new Map(definitions.resources.map((each) => [each.collection.name, each]));
  return definitions.collections.map((collection) =>
    modelOf(collection, resources.get(collection.name)),
  );
}

function modelOf(collection: CollectionDefinition<object>, resource: Resource | undefined): Model {
  const { properties, required } = describe(resource?.schema ?? collection.schema);
  const { unique, indexes, geo = [], expires } = collection;
  const paths = [unique, indexes, geo, expires?.field ?? [], resource?.owner ?? []].flat(2);
  const named = paths.map((path) => path.split(".")[0] ?? path);
  const references = resource?.relations.references ?? [];
  return {
    collection,
    schema: resource?.stored ?? collection.schema,
    properties: isObject(properties) ? properties : {},
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    others: new Set([...named, ...(resource?.reserved ?? [])]),
    references: references.map(({ field, to }) => ({ field, to: to().collection.name })),
  };
}

/** Schemas of other libraries may not describe themselves; their documents are still checked. */
function describe(schema: StandardSchema<unknown> | undefined): Readonly<Record<string, unknown>> {
  const jsonSchema: unknown = Reflect.get(Object(schema?.["~standard"]), "jsonSchema");
  const input: unknown = Reflect.get(Object(jsonSchema), "input");
  if (typeof input !== "function") return {};
  const described: unknown = Reflect.apply(input, jsonSchema, [{ target: "draft-2020-12" }]);
  return isObject(described) ? described : {};
}
