import { isObject } from "@fetchwork/kit";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { check, RestError } from "./errors.ts";
import { fieldErrorsOf } from "./field-error.ts";
import { badFields } from "./problem.ts";

/**
 * A schema of any library that follows Standard Schema and has JSON Schema, such as zod 4.2 or
 * later. It validates what clients send and appears in the OpenAPI document.
 */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output> &
  StandardJSONSchemaV1<unknown, Output>;

/** The type of what a schema accepts, after its defaults and transformations. */
export type OutputOf<S extends Schema> = StandardSchemaV1.InferOutput<S>;

/** The type of what a schema takes, before its defaults and transformations. */
export type InputOf<S extends Schema> = StandardSchemaV1.InferInput<S>;

/** A JSON Schema (draft 2020-12), as OpenAPI 3.2 embeds it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Describing costs much of a start, and what is described is asked for in several places. */
const described = {
  input: new WeakMap<Schema, JsonSchema>(),
  output: new WeakMap<Schema, JsonSchema>(),
};

/**
 * Describes what a schema accepts (`input`) or yields (`output`); `of` is what the error calls it.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a schema that has no such description.
 */
export function jsonSchemaOf(
  schema: Schema,
  side: "input" | "output",
  of = "a definition",
): JsonSchema {
  const known = described[side].get(schema);
  if (known !== undefined) return known;
  try {
    const { $schema: _, ...rest } = schema["~standard"].jsonSchema[side]({
      target: "draft-2020-12",
    });
    described[side].set(schema, rest);
    return rest;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the schema of ${of} does not describe itself as JSON Schema: ${reason}`;
    throw new RestError("ERR_REST_DEFINITION", message, { cause });
  }
}

/** Describes the properties of a schema of an object. */
export function propertiesOf(schema: JsonSchema, of: string): Readonly<Record<string, JsonSchema>> {
  const properties = schema["properties"];
  const isFit = schema["type"] === "object" && isObject(properties);
  check(isFit, `${of} must have the schema of an object`);
  return properties as Record<string, JsonSchema>;
}

/** Validates a value; a {@link Problem} of status 400 names every field that was refused. */
export async function validate<S extends Schema>(schema: S, value: unknown): Promise<OutputOf<S>> {
  const validated = schema["~standard"].validate(value);
  const result = validated instanceof Promise ? await validated : validated;
  if (result.issues) throw badFields(fieldErrorsOf(result.issues, value));
  return result.value;
}

/** Whether a schema accepts `null`. */
export function acceptsNull({ type, anyOf }: JsonSchema): boolean {
  if (Array.isArray(type)) return type.includes("null");
  if (Array.isArray(anyOf)) return anyOf.some((one) => isObject(one) && acceptsNull(one));
  return type === "null";
}

/** Converts text to the type that a schema names; other text stays as it is. */
export function scalarOf(text: string, type: unknown): boolean | number | string {
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if ((type !== "number" && type !== "integer") || text.trim() === "") return text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
