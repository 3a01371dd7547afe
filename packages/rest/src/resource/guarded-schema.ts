import { isObject } from "@fetchwork/kit";
import { type JsonSchema, jsonSchemaOf, propertiesOf, type Schema } from "../schema.ts";

/** Fields that clients may not set, or that nobody may see. */
export interface GuardedFields {
  readonly readOnly: ReadonlySet<string>;
  readonly secret: ReadonlySet<string>;
}

/**
 * Makes the schema of what clients send: fields that are read-only are passed over, and what a
 * schema says of the value of a secret field, which might repeat it, is not.
 */
export function guardedSchema(schema: Schema, { readOnly, secret }: GuardedFields): Schema {
  if (readOnly.size === 0 && secret.size === 0) return schema;
  const standard = schema["~standard"];
  return {
    "~standard": {
      ...standard,
      validate(value) {
        const result = standard.validate(isObject(value) ? without(value, readOnly) : value);
        return result instanceof Promise ? result.then(masked) : masked(result);
      },
      jsonSchema: {
        input: () => describeInput(schema, { readOnly, secret }),
        output: standard.jsonSchema.output,
      },
    },
  };

  function masked(result: Result): Result {
    if (!result.issues || secret.size === 0) return result;
    return {
      issues: result.issues.map((issue) => {
        const [first] = issue.path ?? [];
        const key = typeof first === "object" ? first.key : first;
        const isCustom = Reflect.get(issue, "code") === "custom";
        return isCustom && secret.has(String(key)) ? { path: issue.path, message: "" } : issue;
      }),
    };
  }
}

type Result = Awaited<ReturnType<Schema["~standard"]["validate"]>>;

/**
 * Names what the result of a schema may hold, and no client may set: fields of the store, the
 * owner, computed ones. None where the schema lets nothing pass that it does not name.
 */
export function reservedNames(output: JsonSchema, names: readonly string[]): ReadonlySet<string> {
  return new Set(output["additionalProperties"] === false ? [] : names);
}

/** Leaves fields out; the same object when it has none of them. */
export function without<T>(
  fields: Readonly<Record<string, T>>,
  names: ReadonlySet<string>,
): Readonly<Record<string, T>> {
  if (names.size === 0) return fields;
  const entries = Object.entries(fields);
  const kept = entries.filter(([name]) => !names.has(name));
  return kept.length === entries.length ? fields : Object.fromEntries(kept);
}

function describeInput(schema: Schema, { readOnly, secret }: GuardedFields): JsonSchema & object {
  const input = jsonSchemaOf(schema, "input");
  const properties: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries(propertiesOf(input, "a resource"))) {
    if (readOnly.has(name)) continue;
    properties[name] = secret.has(name) ? { ...property, writeOnly: true } : property;
  }
  return withoutUnused({ ...input, properties });
}

/** Leaves out definitions to which nothing refers, as of a field that clients do not set. */
function withoutUnused({ $defs, ...rest }: JsonSchema): JsonSchema {
  if (!isObject($defs)) return rest;
  const used = Object.entries($defs).filter(([key]) => {
    const others = { ...rest, $defs: without($defs, new Set([key])) };
    return JSON.stringify(others).includes(JSON.stringify(`#/$defs/${key}`));
  });
  const kept = used.length > 0 ? { ...rest, $defs: Object.fromEntries(used) } : rest;
  return used.length === Object.keys($defs).length ? kept : withoutUnused(kept);
}
