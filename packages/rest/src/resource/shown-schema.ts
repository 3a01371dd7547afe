import { isObject } from "@fetchwork/kit";
import { named } from "../named-schema.ts";
import { acceptsNull, type JsonSchema, jsonSchemaOf } from "../schema.ts";
import type { Operation } from "./access-rules.ts";
import type { ComputedField, DerivedField } from "./presenter.ts";
import { ownerSchema } from "./public-user.ts";
import type { CompiledRelations, Reference, Resource } from "./resource.ts";

/** Fields that every document has. */
export const meta: Readonly<Record<string, JsonSchema>> = {
  id: { type: "string" },
  createdAt: { type: "string", format: "date-time" },
  updatedAt: { type: "string", format: "date-time" },
};

/** Fields that documents can have. */
interface ShownFields {
  /** Schema of what is stored. */
  readonly output: JsonSchema;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly computed: Readonly<Record<string, ComputedField>>;
  readonly derived: Readonly<Record<string, DerivedField>>;
}

/** Describes what callers see of documents: in lists and alone, and after a change. */
export function shownSchemas(
  {
    name,
    type,
    softDelete,
    relations,
    shownOwner,
    views,
    list: { selectable: all },
  }: Pick<Resource, "list" | "name" | "relations" | "shownOwner" | "softDelete" | "views"> & {
    /** The name of the resource, as the name of a type. */
    readonly type: string;
  },
  fields: ShownFields,
): Pick<Resource, "changed" | "output"> {
  const shownIn = (operations: readonly Operation[]): JsonSchema =>
    shownSchema(views.seenByAll(operations), { ...fields, all, shownOwner });
  const changed = shownIn(softDelete ? ["create", "update", "restore"] : ["create", "update"]);
  const listed = withRelations(shownIn(["list", "show"]), relations);
  const isSame = JSON.stringify(listed) === JSON.stringify(changed);
  return {
    output: named(isSame ? type : `Shown${type}`, listed, `One ${name}`),
    changed: named(type, changed, `One ${name}`),
  };
}

function shownSchema(
  seenByAll: ReadonlySet<string>,
  {
    all,
    output,
    properties,
    computed,
    derived,
    shownOwner,
  }: ShownFields & Pick<Resource, "shownOwner"> & { readonly all: readonly string[] },
): JsonSchema {
  const required = requiredOf(output);
  const deletedAt = { type: "string", format: "date-time" };
  return {
    type: "object",
    properties: Object.fromEntries(
      all.map((field) => {
        if (field === shownOwner) return [field, ownerSchema];
        const definition = Object.hasOwn(computed, field) ? computed[field] : undefined;
        const stored = Object.hasOwn(properties, field)
          ? withoutDefaults(properties[field] ?? {})
          : meta[field];
        const own = stored && Object.hasOwn(derived, field) ? orNull(stored) : stored;
        return [field, definition ? jsonSchemaOf(definition.schema, "output") : (own ?? deletedAt)];
      }),
    ),
    required: all.filter(
      (field) => seenByAll.has(field) && (Object.hasOwn(meta, field) || required.includes(field)),
    ),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  return acceptsNull(schema) ? schema : { anyOf: [schema, { type: "null" }] };
}

/** Reads the names of the fields without which a schema refuses a document. */
export function requiredOf(schema: JsonSchema): readonly string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.map(String) : [];
}

/** Removes defaults from a schema of output, where a default is a value like others. */
function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { default: _, ...rest } = schema;
  return Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => [keyword, withoutDefaultsIn(keyword, value)]),
  );
}

function withoutDefaultsIn(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutDefaultsIn(keyword, one));
  if (!isObject(value)) return value;
  // The names of properties are no keywords: one may be called "default".
  return keyword === "properties"
    ? Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, withoutDefaultsIn("", one)]),
      )
    : withoutDefaults(value);
}

const shownDocument: JsonSchema = { type: "object" };
const identifier: JsonSchema = { type: "string" };

/** Describes what `populate` may put into documents, in addition to what they show without it. */
function withRelations(
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
