import type { JsonSchema, Resource } from "@fetchwork/rest";
import { propertiesOf } from "./canary.ts";

type FieldSchemas = Readonly<Record<string, JsonSchema>>;

/** Describing costs much, and is asked for with each document. */
const known = new WeakMap<Resource, FieldSchemas>();

/** Schemas of the fields of a resource, also of those that nobody sees or sets. */
export function fieldSchemasOf(resource: Resource): FieldSchemas {
  const found = known.get(resource);
  if (found !== undefined) return found;
  const { jsonSchema } = resource.schema["~standard"];
  const stored: JsonSchema = jsonSchema.output({ target: "draft-2020-12" });
  const schemas = { ...propertiesOf(stored), ...propertiesOf(resource.input) };
  known.set(resource, schemas);
  return schemas;
}
