import type { JsonSchema } from "./schema.ts";

const schemaName = Symbol("name of a schema");

/**
 * Sets the name of a schema in the OpenAPI document, and a description unless it has one. A copy
 * with other keywords has no name.
 */
export function named(name: string, schema: JsonSchema, description?: string): JsonSchema {
  const described = description === undefined ? schema : { description, ...schema };
  return Object.defineProperty({ ...described }, schemaName, { value: name });
}

/** Returns the name that {@link named} gave a schema. */
export function nameOfSchema(schema: JsonSchema): string | undefined {
  const name: unknown = Reflect.get(schema, schemaName);
  return typeof name === "string" ? name : undefined;
}

/** The same document, of which any field may be left out, as by the parameter `fields`. */
export function withoutRequired(schema: JsonSchema): JsonSchema {
  const name = nameOfSchema(schema);
  const { description: _, ...rest } = schema;
  const partial = { ...rest, required: [] };
  if (name === undefined) return { ...schema, required: [] };
  const one = name.replace(/^Shown/, "");
  return named(`Partial${one}`, partial, "What is shown of one: `fields` may leave out any field");
}
