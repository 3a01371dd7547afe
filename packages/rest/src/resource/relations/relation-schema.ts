import { acceptsNull, type JsonSchema } from "../../schema.ts";
import type { CompiledRelations, Reference } from "../resource.ts";

const shownDocument: JsonSchema = { type: "object" };
const identifier: JsonSchema = { type: "string" };

/** Describes what `populate` may put into documents, beside what they show without it. */
export function withRelations(
  schema: JsonSchema,
  { inverses, paths, references }: CompiledRelations,
): JsonSchema {
  const properties: Record<string, JsonSchema> = { ...(schema["properties"] as object) };
  for (const reference of references) {
    const { name } = reference;
    if (!paths.includes(name)) continue;
    properties[name] = populated(reference, properties[name]);
  }
  for (const { name } of inverses) {
    if (paths.includes(name)) properties[name] = { type: "array", items: shownDocument };
  }
  return { ...schema, properties };
}

function populated({ many }: Reference, own: JsonSchema | undefined): JsonSchema {
  if (many) {
    const items = { anyOf: [identifier, shownDocument, { type: "null" }] };
    return { anyOf: [{ type: "array", items }, { type: "null" }] };
  }
  const bare = own ?? identifier;
  const missing = acceptsNull(bare) ? [] : [{ type: "null" }];
  return { anyOf: [bare, shownDocument, ...missing] };
}
