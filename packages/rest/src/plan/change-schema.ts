import { named } from "../named-schema.ts";
import type { Resource } from "../resource/resource.ts";
import { acceptsNull, type JsonSchema, propertiesOf } from "../schema.ts";

/** Makes the named schema of a body that changes one document by PUT or PATCH. */
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
 * Makes the schema of an update: any of the fields that are not immutable. In a PUT, `null` stands
 * for a field that is left out. In a PATCH, `null` removes a field, unless the field is required.
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
