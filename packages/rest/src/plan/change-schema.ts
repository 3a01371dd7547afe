import { named } from "../named-schema.ts";
import type { Resource } from "../resource/resource.ts";
import { acceptsNull, type JsonSchema, propertiesOf } from "../schema.ts";

/** What changes one document of a resource by PUT or PATCH, by its names in OpenAPI. */
export function changeSchema(
  type: string,
  resource: Pick<Resource, "immutable" | "input">,
  method: "PATCH" | "PUT",
): JsonSchema {
  const schema = partialSchema(resource, method);
  return method === "PUT"
    ? named(`${type}Update`, schema, "Fields to change; null stands for one that is left out")
    : named(`${type}Patch`, schema, "A JSON Merge Patch (RFC 7396); null removes a field");
}

/**
 * What an update takes: any of the fields that are not immutable. `null` stands for a field that is
 * not given in a PUT, and removes it in a PATCH, which a required one cannot be.
 */
function partialSchema(
  { immutable, input: schema }: Pick<Resource, "immutable" | "input">,
  method: "PATCH" | "PUT",
): JsonSchema {
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema, "a resource"))) {
    if (immutable.has(name)) continue;
    const takesNull = method === "PUT" || !required.includes(name);
    properties[name] =
      takesNull && !acceptsNull(property) ? { anyOf: [property, { type: "null" }] } : property;
  }
  const { description: _, ...rest } = schema;
  return { ...rest, properties, required: [] };
}
